/* test_flood_layouts.c: the study of layouts: every variant against the reference, bit for bit; cells that a file lists
 * in any order against each other and against the grid; the agents' cells. */
#include "support_case.h"

#include "run/selftest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 24, NY = 18, CELLS = NX * NY };

TEST(variants_equal_the_reference)
{
    OK(bn_selftest_here(ctx, "flood_layouts", "auto", false, (bn_selftest_part){ .count = 1 }, NULL));
}

/* A closed floor as a table, with cell k of the grid in row place[k]; agents have 2 x 2 cells. `broken`: one edge leads
 * to another cell than its own. */
static void write_floor(const char *name, const size_t *place, double ripple, bool broken)
{
    static const int dx[2][6] = { { 1, 0, -1, -1, -1, 0 }, { 1, 1, 0, -1, 0, 1 } }, dy[6] = { 0, 1, 1, 0, -1, -1 };
    char path[200];
    size_t at[CELLS];
    snprintf(path, sizeof path, "%s/%s", test_folder, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    for (size_t k = 0; k < CELLS; k++)
        at[place[k]] = k;
    fprintf(f, "agent,bed,depth,neighbour_0,neighbour_1,neighbour_2,neighbour_3,neighbour_4,neighbour_5\n");
    for (size_t row = 0; row < CELLS; row++) {
        const size_t i = at[row] % NX, j = at[row] / NX;
        const double x = (double)i + (j % 2 ? 0.75 : 0.25) - 0.5 * NX, y = (double)j + 0.5 - 0.5 * NY;
        const double bed = ripple * (1 + sin(0.7 * x) * cos(0.5 * y));
        fprintf(f, "%zu,%.17g,%.17g", j / 2 * (NX / 2) + i / 2, bed,
                fmax(0, (hypot(x, sqrt(0.75) * y) < 5 ? 0.8 : 0.1) - bed));
        for (int e = 0; e < 6; e++) {
            const int to_i = (int)i + dx[j % 2][e], to_j = (int)j + dy[e];
            const bool wall = to_i < 0 || to_j < 0 || to_i >= NX || to_j >= NY;
            const int to = wall ? -1 : (int)place[to_j * NX + to_i];
            fprintf(f, ",%d", broken && at[row] == CELLS / 2 && e == 0 ? (int)row : to);
        }
        fprintf(f, "\n");
    }
    ck_assert_int_eq(fclose(f), 0);
}

static run run_floor(const char *name)
{
    char file[200];
    snprintf(file, sizeof file, "grid.file=%s/%s", test_folder, name);
    return RUN("[case]\nsolver='flood_layouts'\nprecision='double'\n[stop]\nsteps=60\n", NULL, file);
}

/* Rows one after the other, or by a step that has no divisor in common with their number. */
static void number(size_t *place, bool any)
{
    for (size_t k = 0; k < CELLS; k++)
        place[k] = any ? (k * 175 + 31) % CELLS : k;
}

/* Each cell adds up its edges in the same order wherever it stands in the file: equal bits. */
TEST(the_order_of_cells_does_not_matter)
{
    size_t rows[CELLS], any[CELLS], count;
    number(rows, false);
    number(any, true);
    write_floor("rows.csv", rows, 0.15, false);
    write_floor("any.csv", any, 0.15, false);
    run a = run_floor("rows.csv"), b = run_floor("any.csv");
    double *in_rows = field(&a, "state", &count), *in_any = field(&b, "state", &count), most = 0;
    ck_assert_uint_ge(count, 4 * CELLS);
    const size_t plane = count / 4; /* the last row of the grid may be longer than the table */
    for (size_t c = 0; c < 4; c++)
        for (size_t k = 0; k < CELLS; k++) {
            most = fmax(most, c == 1 ? fabs(in_rows[plane + k]) : 0);
            ck_assert_msg(!(in_rows[c * plane + k] < in_any[c * plane + any[k]]) &&
                              !(in_rows[c * plane + k] > in_any[c * plane + any[k]]),
                          "component %zu of cell %zu", c, k);
        }
    ck_assert_msg(most > 0.1, "the water stands: %g m/s", most);
    free(in_rows);
    free(in_any);
    end_run(&a);
    end_run(&b);
}

/* The grid's own neighbours, computed. */
TEST(listed_cells_equal_the_grid)
{
    size_t rows[CELLS], count;
    number(rows, false);
    write_floor("rows.csv", rows, 0, false);
    run a = run_floor("rows.csv"),
        b = RUN(
            "[case]\nsolver='flood_layouts'\nprecision='double'\n[grid]\ncells=[24,18]\n[initial]\nlevels=[0.8,0.1]\n"
            "radius=5\n[stop]\nsteps=60\n",
            NULL, "solver.neighbours=computed");
    double *of_file = field(&a, "state", &count), *of_grid = field(&b, "state", NULL);
    for (size_t c = 0; c < 4; c++)
        ck_assert_mem_eq(of_file + c * (count / 4), of_grid + c * CELLS, CELLS * sizeof(double));
    free(of_file);
    free(of_grid);
    end_run(&a);
    end_run(&b);
}

/* Agents' cells of four equal cells hold all of the water: the mean of their means is that of the cells. */
TEST(agents_have_the_water_of_their_cells)
{
    size_t rows[CELLS], count;
    double sum = 0, agents = 0;
    number(rows, true);
    write_floor("any.csv", rows, 0.15, false);
    run r = run_floor("any.csv");
    double *state = field(&r, "state", &count);
    for (size_t k = 0; k < CELLS; k++)
        sum += state[k];
    const bn_column *columns;
    size_t width, agent_cells;
    const bn_results *results = bn_sim_results(r.sim);
    ck_assert_uint_eq(bn_results_tables(results), 1);
    ck_assert_str_eq(bn_results_table_at(results, 0, &columns, &width, &agent_cells), "agents");
    ck_assert_uint_eq(agent_cells, CELLS / 4);
    for (size_t a = 0; a < agent_cells; a++) {
        ck_assert_int_eq(lround(columns[1].values[a]), 4);
        ck_assert_double_ge(columns[3].values[a], columns[2].values[a]);
        agents += 4 * columns[2].values[a];
    }
    /* 432 additions on each side, each of at most one rounding of the sum */
    ck_assert_double_eq_tol(agents, sum, 2 * 432 * 0x1p-53 * sum);
    free(state);
    end_run(&r);
}

TEST(one_sided_edges_are_refused)
{
    size_t rows[CELLS];
    char text[400];
    number(rows, false);
    write_floor("broken.csv", rows, 0, true);
    snprintf(text, sizeof text, "[case]\nsolver='flood_layouts'\n[grid]\nfile='%s/broken.csv'\n", test_folder);
    rejected_case(text, BN_CASE, "an edge joins two cells");
    snprintf(text, sizeof text, "[case]\nsolver='flood_layouts'\n[grid]\nfile='%s/none.csv'\n", test_folder);
    rejected_case(text, BN_CASE, "there is no such table");
}

int main(void) { return bn_test_main("flood_layouts", open_folder, close_folder); }
