/* test_maxwell_gradient.c: the index of cells from a map, currents as a source, and gradients of what follows from the
 * field with respect to the map against central differences. */
#include "support_case.h"

#include <stdlib.h>
#include <string.h>

enum { NX = 4, NY = 3, NZ = 24, CELLS = NX * NY * NZ };

/* An absorber under glass; the map covers some cells of both, and leaves the rest. */
static const char layers[] =
    "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [4, 3, 24]\nspacing = 30e-9\n"
    "[light]\nwavelength = 600e-9\npolarisation = 0.5\nramp = 5\n[pml]\ncells = 5\n"
    "[structure]\ntop = 420e-9\nbelow = \"absorber\"\n[[material]]\nname = \"glass\"\nn = 1.5\n"
    "[[material]]\nname = \"absorber\"\nn = 1.7\nk = 0.1\n[[layer]]\nmaterial = \"glass\"\nthickness = 120e-9\n"
    "[solver]\nepsilon = 1e-11\naccelerate = \"anderson\"\n";
/* A block of the absorber in vacuum between absorbing sides. */
static const char block[] =
    "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [12, 12, 12]\nspacing = 30e-9\n"
    "[light]\nwavelength = 600e-9\npolarisation = 0.5\nsource = \"volume\"\n[boundary]\nsides = \"absorbing\"\n"
    "[pml]\ncells = 2\nreflection = 1e-3\n[[material]]\nname = \"absorber\"\nn = 1.7\nk = 0.1\n"
    "[[box]]\nmaterial = \"absorber\"\nfrom = [120e-9, 120e-9, 120e-9]\nto = [210e-9, 210e-9, 210e-9]\n"
    "[solver]\nepsilon = 1e-11\naccelerate = \"anderson\"\n";

typedef struct design {
    const char *text;
    unsigned n[3];
    double *map, *direction;
} design;

static size_t cells_of(const design *d) { return (size_t)d->n[0] * d->n[1] * d->n[2]; }

/* The map has random numbers in the cells from `low` to before `high`. */
static design make_design(const char *text, unsigned nx, unsigned ny, unsigned nz, const unsigned low[3],
                          const unsigned high[3])
{
    design d = { text, { nx, ny, nz }, NULL, NULL };
    d.map = malloc(cells_of(&d) * sizeof *d.map);
    d.direction = calloc(cells_of(&d), sizeof *d.direction);
    ck_assert(d.map && d.direction);
    srand(1);
    for (unsigned at = 0; at < cells_of(&d); at++) {
        const unsigned place[3] = { at % nx, at / nx % ny, at / nx / ny };
        bool inside = true;
        for (int k = 0; k < 3; k++)
            inside = inside && place[k] >= low[k] && place[k] < high[k];
        d.map[at] = inside ? 1.5 + 0.3 * rand() / RAND_MAX : (double)NAN;
        d.direction[at] = inside ? 2.0 * rand() / RAND_MAX - 1 : 0;
    }
    return d;
}

static void end_design(design *d)
{
    free(d->map);
    free(d->direction);
}

static run solve(const design *d, double step, bn_device *device, const char *const *keys, size_t count)
{
    run r;
    double *changed = malloc(cells_of(d) * sizeof *changed);
    for (size_t i = 0; i < cells_of(d); i++)
        changed[i] = d->map[i] + step * d->direction[i];
    OK(bn_case_parse(ctx, "design.toml", d->text, keys, count, &r.config));
    OK(bn_case_give(r.config, "design", d->n, changed));
    OK(bn_sim_create(ctx, r.config, &(bn_sim_desc){ .device = device, .boxes = 1 }, &r.sim));
    OK(bn_sim_advance(r.sim, 0, NULL));
    ck_assert(bn_sim_now(r.sim).converged);
    OK(bn_sim_measure(r.sim));
    free(changed);
    return r;
}

/* The sum of the squares of all components of a field in one plane of cells, and its slopes. */
static double intensity(const run *r, const design *d, const char *name, unsigned plane, double *slopes)
{
    const size_t cells = cells_of(d), first = (size_t)plane * d->n[0] * d->n[1];
    size_t count;
    double *values = field(r, name, &count), sum = 0;
    ck_assert_uint_eq(count, 6 * cells);
    memset(slopes, 0, count * sizeof *slopes);
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < (size_t)d->n[0] * d->n[1]; i++) {
            const size_t x = i % d->n[0], y = i / d->n[0], at = 2 * (c * cells + first + i);
            if (d->n[0] == 12 && /* off the absorbing sides */
                (x < 4 || x > 7 || y < 4 || y > 7))
                continue;
            sum += values[at] * values[at] + values[at + 1] * values[at + 1];
            slopes[at] = 2 * values[at];
            slopes[at + 1] = 2 * values[at + 1];
        }
    free(values);
    return sum;
}

enum { QUANTITIES = 4 };
static const char *const quantities[QUANTITIES] = { "E", "Z0H", "reflectance", "transmittance" };

/* Differences over steps of h and h / 2, extrapolated; the fields are converged to 1e-11, of which the differences make
 * some 1e-8 at most. Measured: 5e-10 of the largest. */
static void check_gradients(const design *d, unsigned plane, int count, const char *const *keys, size_t key_count,
                            bn_device *device)
{
    static const double steps[] = { 1e-3, -1e-3, 5e-4, -5e-4 };
    const size_t cells = cells_of(d);
    double *slopes = malloc(6 * cells * sizeof *slopes), *gradient = malloc(2 * cells * sizeof *gradient),
           value[4][QUANTITIES];
    ck_assert(slopes && gradient);
    for (int i = 0; i < 4; i++) {
        run r = solve(d, steps[i], NULL, keys, key_count);
        for (int q = 0; q < count; q++)
            value[i][q] = q < 2 ? intensity(&r, d, quantities[q], plane, slopes) : result(&r, quantities[q]);
        end_run(&r);
    }
    run here = solve(d, 0, NULL, keys, key_count);
    for (int q = 0; q < count; q++) {
        const double wide = (value[0][q] - value[1][q]) / 2e-3, narrow = (value[2][q] - value[3][q]) / 1e-3;
        const double size = q < 2 ? intensity(&here, d, quantities[q], plane, slopes) : 1;
        double along = 0;
        OK(bn_sim_gradient(here.sim, quantities[q], q < 2 ? slopes : NULL, NULL, gradient));
        for (size_t i = 0; i < cells; i++)
            along += gradient[i] * d->direction[i];
        near(along / size, (4 * narrow - wide) / 3 / size, 1.5e-9, quantities[q]);
        ck_assert(fabs(along / size) > 1e-4);
    }
    if (device) { /* the last one again */
        run there = solve(d, 0, device, keys, key_count);
        intensity(&there, d, "E", plane, slopes);
        OK(bn_sim_gradient(here.sim, "E", slopes, NULL, gradient));
        OK(bn_sim_gradient(there.sim, "E", slopes, NULL, gradient + cells));
        ck_assert_msg(memcmp(gradient, gradient + cells, cells * sizeof *gradient) == 0, "the device has other bits");
        end_run(&there);
    }
    end_run(&here);
    free(slopes);
    free(gradient);
}

TEST(gradients_are_those_of_differences)
{
    static const char *const keys[] = { "structure.map=design" };
    without_optimiser(true);
    bn_device *device = opened_device();
    design d = make_design(layers, NX, NY, NZ, (const unsigned[3]){ 1, 0, 8 }, (const unsigned[3]){ 4, 2, 12 });
    check_gradients(&d, 9, QUANTITIES, keys, 1, device);
    end_design(&d);
}

TEST(gradients_of_oblique_light_go_the_other_way)
{
    static const char *const keys[] = { "structure.map=design", "light.incidence=0.4", "light.azimuth=0.7" };
    design d = make_design(layers, NX, NY, NZ, (const unsigned[3]){ 1, 0, 8 }, (const unsigned[3]){ 4, 2, 12 });
    check_gradients(&d, 9, 2, keys, 3, NULL);
    end_design(&d);
}

/* The absorber is the half space below, too: slopes of H lie beside it. */
TEST(gradients_beside_magnetic_materials)
{
    static const char *const keys[] = { "structure.map=design", "material.2.mu=1.4", "material.2.mu_loss=0.1" };
    design d = make_design(layers, NX, NY, NZ, (const unsigned[3]){ 1, 0, 8 }, (const unsigned[3]){ 4, 2, 12 });
    check_gradients(&d, 9, 2, keys, 3, NULL);
    end_design(&d);
}

TEST(gradients_of_scattered_light_have_the_total_field)
{
    static const char *const keys[] = { "structure.map=design" };
    design d = make_design(block, 12, 12, 12, (const unsigned[3]){ 5, 4, 5 }, (const unsigned[3]){ 8, 7, 7 });
    check_gradients(&d, 5, 2, keys, 1, NULL);
    end_design(&d);
}

/* The index of every cell, or of those of the absorber alone, given once more: means are of the same numbers in another
 * order, and rounding apart the same. In the absorbing layers and above the source a map repeats what is there. */
static void check_repeated(const char *text, unsigned nx, unsigned ny, unsigned nz, const char *const *names)
{
    static const char *const key = "structure.map=design";
    const unsigned none[3] = { 0, 0, 0 };
    design d = make_design(text, nx, ny, nz, none, none);
    run plain = RUN(text, NULL, NULL);
    size_t count;
    double *index = field(&plain, "n", &count);
    ck_assert_uint_eq(count, cells_of(&d));
    for (int full = 0; full < 2; full++) {
        for (size_t at = 0; at < count; at++)
            d.map[at] = full || index[at] == 1.7 ? index[at] : (double)NAN;
        run mapped = solve(&d, 0, NULL, &key, 1);
        near(difference(&mapped, &plain, "E"), 0, 1e-9, "E");
        for (int i = 0; names[i]; i++)
            near(result(&mapped, names[i]), result(&plain, names[i]), 1e-9, names[i]);
        end_run(&mapped);
    }
    end_run(&plain);
    free(index);
    end_design(&d);
}

TEST(a_map_of_what_is_there_changes_nothing)
{
    static const char *const of_layers[] = { "reflectance", "transmittance", "absorptance_absorber", NULL };
    check_repeated(layers, NX, NY, NZ, of_layers);
    check_repeated(block, 12, 12, 12, (const char *const[]){ NULL }); /* whose index changes along x and y, too */
}

static void rejected(const design *d, size_t cell, double index, const char *why)
{
    const char *const key = "structure.map=design";
    run r;
    const double was = d->map[cell];
    d->map[cell] = index;
    OK(bn_case_parse(ctx, "design.toml", d->text, &key, 1, &r.config));
    OK(bn_case_give(r.config, "design", d->n, d->map));
    ck_assert_int_eq(bn_sim_create(ctx, r.config, &(bn_sim_desc){ .boxes = 1 }, &r.sim), BN_CASE);
    ck_assert_msg(strstr(bn_error_text(ctx), why), "%s", bn_error_text(ctx));
    bn_error_clear(ctx);
    bn_case_destroy(&r.config);
    d->map[cell] = was;
}

TEST(maps_and_slopes_that_cannot_be)
{
    design d = make_design(layers, NX, NY, NZ, (const unsigned[3]){ 1, 0, 8 }, (const unsigned[3]){ 4, 2, 12 });
    double slopes[6 * CELLS] = { 0 }, gradient[CELLS];
    const char *const key = "structure.map=design";
    const size_t plane = (size_t)NX * NY;
    rejected(&d, 0, 1.6, "absorbing layer");
    rejected(&d, 17 * plane, 1.6, "above the light's source");
    rejected(&d, 9 * plane, 0.9, "permittivity of 1");
    rejected(&d, 9 * plane, 2.6, "eight cells");
    run r = solve(&d, 0, NULL, &key, 1);
    slopes[2 * (2 * CELLS + 4 * plane)] = 1; /* of E_z half a cell above place 4, within the five cells */
    ck_assert_int_eq(bn_sim_gradient(r.sim, "E", slopes, NULL, gradient), BN_USAGE);
    ck_assert(strstr(bn_error_text(ctx), "absorbing layers"));
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_sim_gradient(r.sim, "absorptance", NULL, NULL, gradient), BN_USAGE);
    bn_error_clear(ctx);
    end_run(&r);
    OK(bn_case_parse(ctx, "design.toml", d.text, &key, 1, &r.config));
    OK(bn_case_give(r.config, "design", d.n, d.map));
    OK(bn_sim_create(ctx, r.config, &(bn_sim_desc){ .boxes = 1 }, &r.sim));
    ck_assert_int_eq(bn_sim_gradient(r.sim, "reflectance", NULL, NULL, gradient), BN_DIVERGED);
    ck_assert(strstr(bn_error_text(ctx), "not converged"));
    bn_error_clear(ctx);
    end_run(&r);
    end_design(&d);
}

int main(void) { return bn_test_main("maxwell-gradient", open_context, close_context); }
