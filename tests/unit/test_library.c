/* test_library.c: what programs that link the library do: build a case key by key, step it while somebody watches, read
 * and write its fields, run it whole, in several threads. Numbers are those of the same case on the other way. */
#include "support_case.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A small room with a warm wall, key by key. */
static const char *const room[] = { "case.solver=flow",
                                    "grid.nodes=[17, 21]",
                                    "grid.size=[1.6, 2.0]",
                                    "fluid.viscosity=1e-2 m2/s",
                                    "fluid.diffusivity=1e-2 m2/s",
                                    "fluid.buoyancy=1",
                                    "boundary.left.heat=given",
                                    "boundary.left.temperature=1",
                                    "boundary.top.speed=1",
                                    "time.dt=0.01",
                                    "stop.steps=40",
                                    "output.series_every=4" };
enum { ROOM = sizeof room / sizeof *room, NX = 17, NY = 21 };

static bn_device *device;

static void set_up(void)
{
    open_context();
    OK(bn_device_open(ctx, "auto", false, &device));
}

static void tear_down(void)
{
    bn_device_close(&device);
    close_context();
}

static void make(bn_device *on, const char *more, bn_case **c, bn_sim **sim)
{
    const char *keys[ROOM + 1];
    memcpy(keys, room, sizeof room);
    keys[ROOM] = more;
    OK(bn_case_parse(ctx, "room", "", keys, ROOM + (more != NULL), c));
    OK(bn_sim_create(ctx, *c, &(bn_sim_desc){ .device = on }, sim));
}

static void forget(bn_case **c, bn_sim **sim)
{
    bn_sim_destroy(sim);
    bn_case_destroy(c);
}

/* A failure of this kind, which says so; then it is forgotten. */
static void fails(bn_status st, bn_status expected, const char *says)
{
    ck_assert_msg(st == expected && strstr(bn_error_text(ctx), says), "status %d: %s", st, bn_error_text(ctx));
    bn_error_clear(ctx);
}

TEST(lists_are_built_whole)
{
    const char *keys[] = { "case.solver=bpm",
                           "grid.cells=64",
                           "grid.width=20 um",
                           "light.wavelength=1 um",
                           "structure=[{ index = 1.5, width = \"3 um\" }, { kind = \"taper\", width = \"4 um\" }]",
                           "structure.2.index=1.6",
                           "march.length=10 um" };
    bn_case *c;
    OK(bn_case_parse(ctx, "guide", "", keys, sizeof keys / sizeof *keys, &c));
    ck_assert_uint_eq(bn_case_items(c, "structure"), 2);
    near(bn_case_item_real(c, "structure.width", 0), 3e-6, 1e-18, "the list above");
    near(bn_case_item_real(c, "structure.index", 1), 1.6, 1e-15, "the key after it");
    bn_case_destroy(&c);
    /* Instead of what a file has. */
    const char *text = "[case]\nsolver = \"bpm\"\n[grid]\ncells = 64\nwidth = 2e-5\n[light]\nwavelength = 1e-6\n"
                       "[march]\nlength = 1e-5\n[[structure]]\nindex = 2\nwidth = 1e-6\n";
    OK(bn_case_parse(ctx, "guide", text, (const char *const[]){ "structure=[]" }, 1, &c));
    ck_assert_uint_eq(bn_case_items(c, "structure"), 0);
    bn_case_destroy(&c);
    fails(bn_case_parse(ctx, "guide", text, (const char *const[]){ "structure=[{ indx = 1 }]" }, 1, &c), BN_CASE,
          "index");
}

/* What else a list of tables may have, of the self-test of flow and of flood. */
TEST(values_of_items)
{
    bn_case *c;
    const char *keys[] = { "case.solver=flood", "grid.cells=[20, 10]", "grid.spacing=1",
                           "gauge=[{ at = [3.0, 4.0] }, { at = [5.0, 6.0], storey = 1, name = \"door\" }]",
                           "legend=[{ colour = \"#ff0000\", kind = \"door\", open = false }]" };
    OK(bn_case_parse(ctx, "floor", "", keys, sizeof keys / sizeof *keys, &c));
    ck_assert(bn_case_items(c, "gauge") == 2 && bn_case_item_real_at(c, "gauge.at", 1, 1) == 6);
    ck_assert_int_eq(bn_case_item_int(c, "gauge.storey", 1), 1);
    ck_assert_str_eq(bn_case_item_text(c, "gauge.name", 1), "door");
    ck_assert(!bn_case_item_bool(c, "legend.open", 0));
    bn_case_destroy(&c);
    const char *more[] = { "case.solver=flow", "grid.nodes=[9, 9]", "grid.size=[1, 1]", "fluid.viscosity=1",
                           "boundary.segment=[{ side = \"top\", from = 0.25, to = 0.5 }]" };
    OK(bn_case_parse(ctx, "room", "", more, sizeof more / sizeof *more, &c));
    ck_assert_int_ge(bn_case_item_choice(c, "boundary.segment.side", 0), 0);
    bn_case_destroy(&c);
}

static void nowhere(void *user, int level, const char *text)
{
    (void)user;
    (void)level;
    (void)text;
}

/* What a context and a device tell of themselves. */
TEST(contexts_and_devices)
{
    size_t count;
    ck_assert(!bn_context_debug(ctx) && bn_device_local_count(device) == 1 && bn_device_local(device, 0)->bytes > 0);
    ck_assert(bn_device_least(device)->bytes <= bn_device_describe(device)->bytes);
    ck_assert(!bn_device_single_threaded(device) || bn_device_describe(device)->cpu);
    bn_context *own;
    OK(bn_context_create(&(bn_context_desc){ .log = nowhere, .kernel_dir = "/kernels", .cache_dir = "" }, &own));
    ck_assert_str_eq(bn_context_kernel_dir(own), "/kernels");
    bn_log(own, BN_LOG_WARNING, "a warning of %d", 7);
    ck_assert(strstr(bn_context_warnings(own), "a warning of 7"));
    ck_assert_int_eq(bn_fail(own, BN_IO, "that failed"), BN_IO);
    bn_error_add(own, &(bn_error_item){ .key = "grid.nodes", .line = 3, .message = "why" });
    const bn_error_item *items = bn_error_items(own, &count);
    ck_assert(count == 1 && items[0].line == 3 && strcmp(items[0].key, "grid.nodes") == 0);
    bn_error_clear(own);
    (void)bn_error_items(own, &count);
    ck_assert_uint_eq(count, 0);
    bn_context_destroy(&own);
}

/* Parts, strides, precisions and order, against the whole field as bn_sim_read gives it. */
static void check_parts(bn_device *on, const char *precision)
{
    bn_case *c;
    bn_sim *sim;
    make(on, precision, &c, &sim);
    OK(bn_sim_advance(sim, 3, NULL));
    const bool wide = bn_case_double(c);
    const size_t bytes = wide ? 8 : 4;
    void *whole = malloc(2 * NX * NY * bytes);
    OK(bn_sim_read(sim, "velocity", whole, 2 * NX * NY * bytes));
    double all[2 * NX * NY];
    OK(bn_sim_get(sim, "velocity", NULL, BN_NUMBERS_DOUBLE, all));
    for (int i = 0; i < 2 * NX * NY; i++)
        ck_assert(all[i] == (wide ? ((double *)whole)[i] : (double)((float *)whole)[i]));
    /* The second component of 5 x 3 points, rows and columns exchanged, with room between. */
    float turned[5][8];
    const bn_field_part part = {
        .first = 1, .from = { 2, 7, 0 }, .n = { 5, 3, 1 }, .strides = { sizeof turned[0], 8, 0, 0 }
    };
    OK(bn_sim_get(sim, "velocity", &part, BN_NUMBERS_FLOAT, turned));
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 5; i++)
            ck_assert(turned[i][2 * j] == (float)all[(NY + 7 + j) * NX + 2 + i]);
    /* Written from there, added to, and read again; what is beside keeps its value. */
    const bn_field_part same = { .from = { 2, 7, 0 }, .n = { 5, 3, 1 }, .strides = { sizeof turned[0], 8, 0, 0 } };
    double before[NX * NY], after[NX * NY];
    OK(bn_sim_get(sim, "temperature", NULL, BN_NUMBERS_DOUBLE, before));
    OK(bn_sim_set(sim, "temperature", &same, BN_NUMBERS_FLOAT, turned));
    OK(bn_sim_add(sim, "temperature", &same, BN_NUMBERS_FLOAT, turned));
    OK(bn_sim_get(sim, "temperature", NULL, BN_NUMBERS_DOUBLE, after));
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            const bool inside = i >= 2 && i < 7 && j >= 7 && j < 10;
            const double expected = inside ? 2 * (double)turned[i - 2][2 * (j - 7)] : before[j * NX + i];
            ck_assert_msg(after[j * NX + i] == expected, "%d %d", i, j);
        }
    OK(bn_sim_set(sim, "temperature", NULL, BN_NUMBERS_DOUBLE, before));
    OK(bn_sim_get(sim, "temperature", NULL, BN_NUMBERS_DOUBLE, after));
    ck_assert_mem_eq(before, after, sizeof before);
    fails(bn_sim_get(sim, "heat", NULL, BN_NUMBERS_OWN, all), BN_USAGE, "no field heat");
    fails(bn_sim_get(sim, "velocity", &(bn_field_part){ .first = 2 }, BN_NUMBERS_OWN, all), BN_USAGE, "no such part");
    fails(bn_sim_get(sim, "psi", &(bn_field_part){ .from = { 2, 0, 0 }, .n = { NX - 1, 1, 1 } }, BN_NUMBERS_OWN, all),
          BN_USAGE, "no such part");
    fails(bn_sim_get(sim, "node", NULL, BN_NUMBERS_DOUBLE, all), BN_USAGE, "whole numbers");
    fails(bn_sim_set(sim, "rhs", NULL, BN_NUMBERS_DOUBLE, all), BN_USAGE, "writing it changes nothing");
    free(whole);
    forget(&c, &sim);
}

TEST(parts_of_fields)
{
    check_parts(NULL, "case.precision=single");
    check_parts(NULL, "case.precision=double");
    check_parts(device, "case.precision=single");
}

/* A state that is read from one simulation and written to another goes on there with the same bits. */
static void check_transfer(bn_device *on)
{
    static const char *const state[] = { "psi", "omega", "velocity", "temperature", "psi_before" };
    bn_case *c[2];
    bn_sim *sim[2];
    float values[2 * NX * NY], end[2][NX * NY];
    for (int i = 0; i < 2; i++)
        make(on, NULL, &c[i], &sim[i]);
    OK(bn_sim_advance(sim[0], 7, NULL));
    for (size_t f = 0; f < sizeof state / sizeof *state; f++) {
        OK(bn_sim_get(sim[0], state[f], NULL, BN_NUMBERS_OWN, values));
        OK(bn_sim_set(sim[1], state[f], NULL, BN_NUMBERS_OWN, values));
    }
    for (int i = 0; i < 2; i++) {
        OK(bn_sim_advance(sim[i], 5, NULL));
        OK(bn_sim_get(sim[i], "omega", NULL, BN_NUMBERS_OWN, end[i]));
    }
    ck_assert_mem_eq(end[0], end[1], sizeof end[0]);
    for (int i = 0; i < 2; i++)
        forget(&c[i], &sim[i]);
}

TEST(a_written_state_goes_on)
{
    check_transfer(NULL);
    check_transfer(device);
}

/* Water that is added where all was dry begins to flow, on the device as in the reference; its volume stays. */
TEST(water_is_added_to_a_dry_floor)
{
    enum { N = 300 };
    const char *keys[] = { "case.solver=flood", "grid.cells=[300, 8]", "grid.spacing=1",
                           "initial.kind=dry",  "time.interval=0.5",   "stop.steps=6" };
    float depth[2][8 * N];
    double volume[2] = { 0 };
    for (int i = 0; i < 2; i++) {
        bn_case *c;
        bn_sim *sim;
        OK(bn_case_parse(ctx, "floor", "", keys, sizeof keys / sizeof *keys, &c));
        OK(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = i == 0 ? device : NULL }, &sim));
        OK(bn_sim_advance(sim, 2, NULL));
        const float water[4] = { 1, 1, 1, 1 };
        OK(bn_sim_add(sim, "depth", &(bn_field_part){ .from = { 280, 3, 0 }, .n = { 2, 2, 1 } }, BN_NUMBERS_FLOAT,
                      water));
        OK(bn_sim_advance(sim, 0, NULL));
        OK(bn_sim_get(sim, "depth", NULL, BN_NUMBERS_FLOAT, depth[i]));
        for (int k = 0; k < 8 * N; k++)
            volume[i] += (double)depth[i][k];
        ck_assert(depth[i][3 * N + 277] > 0);
        forget(&c, &sim);
    }
    ck_assert_mem_eq(depth[0], depth[1], sizeof depth[0]);
    /* Every cell rounds its depth in each of some dozen time steps: 2^-24 of at most 1 m, in 60 cells. */
    near(volume[0], 4, 60 * 0x1p-24 * 24, "four cells of 1 m");
}

/* Complex fields: pairs side by side, components apart. */
TEST(pairs_and_components)
{
    run r = RUN("[case]\nsolver = \"maxwell\"\n[grid]\ncells = [4, 3, 30]\nspacing = \"20 nm\"\n[light]\n"
                "wavelength = \"600 nm\"\n[stop]\nsteps = 8\n",
                device, NULL);
    const bn_sim_field_info *info = field_info(&r, "E");
    ck_assert(info->pairs && info->components == 6 && info->state);
    size_t count;
    double *whole = field(&r, "E", &count), some[2 * 3 * 3];
    /* Three components of a column of three points. */
    OK(bn_sim_get(r.sim, "E", &(bn_field_part){ .from = { 1, 2, 10 }, .n = { 1, 1, 3 } }, BN_NUMBERS_DOUBLE, some));
    double most = 0;
    for (int comp = 0; comp < 3; comp++)
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 2; i++) {
                const double e = whole[2 * (((comp * 30 + 10 + k) * 3 + 2) * 4 + 1) + i];
                ck_assert(some[2 * (3 * comp + k) + i] == e);
                most = fmax(most, fabs(e));
            }
    ck_assert(most > 0);
    free(whole);
    end_run(&r);
}

/* Who is asked: how often, and what was said. */
typedef struct watcher {
    int asked, most;
    unsigned long long step;
    bool left_known;
    atomic_bool stop;
} watcher;

static bool watch(void *user, const bn_sim_state *now, double left)
{
    watcher *w = user;
    w->asked++;
    w->step = now->step;
    w->left_known = w->left_known || left >= 0;
    return !atomic_load(&w->stop) && (w->most == 0 || w->asked < w->most);
}

TEST(steps_are_watched)
{
    bn_case *c[2];
    bn_sim *sim[2];
    float psi[2][NX * NY];
    for (int i = 0; i < 2; i++)
        make(device, NULL, &c[i], &sim[i]);
    watcher w = { .most = 5 };
    fails(bn_sim_advance(sim[0], 20, &(bn_watch){ watch, &w, 0 }), BN_INTERRUPTED, "after step 5");
    ck_assert(w.asked == 5 && w.step == 5 && w.left_known);
    w = (watcher){ .most = 0 };
    OK(bn_sim_advance(sim[0], 0, &(bn_watch){ watch, &w, 1e9 }));
    ck_assert(w.asked == 0 && bn_sim_done(sim[0]) && bn_sim_now(sim[0]).step == 40);
    for (int i = 0; i < 40; i++)
        OK(bn_sim_step(sim[1]));
    for (int i = 0; i < 2; i++)
        OK(bn_sim_get(sim[i], "psi", NULL, BN_NUMBERS_OWN, psi[i]));
    ck_assert_mem_eq(psi[0], psi[1], sizeof psi[0]);
    ck_assert(bn_sim_now(sim[0]).residual == bn_sim_now(sim[1]).residual);
    OK(bn_sim_advance(sim[1], 2, NULL)); /* further than the case says */
    ck_assert(bn_sim_now(sim[1]).step == 42);
    const bn_column *columns;
    size_t count, rows;
    OK(bn_sim_series(sim[1], &columns, &count, &rows));
    ck_assert(rows == 1 && count >= 3 && strcmp(columns[1].unit, "s") == 0);
    ck_assert(columns[0].values[0] == 42 && columns[2].values[0] == bn_sim_now(sim[1]).residual);
    for (int i = 0; i < 2; i++)
        forget(&c[i], &sim[i]);
}

TEST(a_case_runs_whole)
{
    bn_case *c[2];
    bn_sim *sim[2];
    char folder[] = "/tmp/binnacle-library-XXXXXX", path[64];
    struct stat info;
    ck_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/run", folder);
    make(device, NULL, &c[0], &sim[0]);
    bn_sim_destroy(&sim[0]);
    watcher w = { .most = 0 };
    OK(bn_run(ctx, c[0], &(bn_run_options){ .sim.device = device, .watch = { watch, &w, 0 } }, &sim[0]));
    ck_assert(w.asked == 41 && bn_sim_now(sim[0]).step == 40); /* before the first step, too */
    make(device, NULL, &c[1], &sim[1]);
    OK(bn_sim_advance(sim[1], 0, NULL));
    OK(bn_sim_measure(sim[1]));
    const bn_results *found[2] = { bn_sim_results(sim[0]), bn_sim_results(sim[1]) };
    ck_assert(bn_results_count(found[0]) == bn_results_count(found[1]) && bn_results_count(found[0]) > 3);
    for (size_t i = 0; i < bn_results_count(found[0]); i++)
        ck_assert(bn_results_at(found[0], i)->value == bn_results_at(found[1], i)->value);
    const bn_column *columns;
    size_t count, rows;
    OK(bn_sim_series(sim[0], &columns, &count, &rows));
    ck_assert(rows == 10 && columns[0].values[0] == 4 && columns[0].values[9] == 40);
    near(columns[1].values[9], 0.4, 1e-12, "40 steps of 0.01 s");
    bn_sim_destroy(&sim[0]);
    /* The same with files, stopped on the way, and gone on with. */
    bn_run_options o = { .sim.device = device, .out = path, .watch = { watch, &w, 0 } };
    w = (watcher){ .most = 12 };
    fails(bn_run(ctx, c[0], &o, &sim[0]), BN_INTERRUPTED, "interrupted after step 11");
    ck_assert(bn_sim_now(sim[0]).step == 11);
    bn_sim_destroy(&sim[0]);
    w = (watcher){ .most = 0 };
    o.sim.resume = path;
    OK(bn_run(ctx, c[0], &o, &sim[0]));
    for (size_t i = 0; i < bn_results_count(found[1]); i++)
        ck_assert(bn_results_at(bn_sim_results(sim[0]), i)->value == bn_results_at(found[1], i)->value);
    snprintf(path, sizeof path, "%s/run/summary.json", folder);
    ck_assert(stat(path, &info) == 0);
    forget(&c[0], &sim[0]);
    forget(&c[1], &sim[1]);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

TEST(a_run_that_cannot_begin)
{
    bn_case *c;
    bn_sim *sim;
    make(NULL, NULL, &c, &sim);
    bn_sim_destroy(&sim);
    const bn_run_options o = { .sim = { .device = device, .resume = "/nowhere" } };
    fails(bn_run(ctx, c, &o, &sim), BN_IO, "/nowhere");
    ck_assert_ptr_null(sim);
    bn_case_destroy(&c);
}

/* A long run, ended by another thread. */
static void *stop_soon(void *user)
{
    watcher *w = user;
    atomic_store(&w->stop, true);
    return NULL;
}

TEST(another_thread_ends_a_run)
{
    bn_case *c;
    bn_sim *sim;
    pthread_t other;
    watcher w = { .most = 0 };
    make(device, "stop.steps=100000000", &c, &sim);
    ck_assert_int_eq(pthread_create(&other, NULL, stop_soon, &w), 0);
    fails(bn_sim_advance(sim, 0, &(bn_watch){ watch, &w, 0 }), BN_INTERRUPTED, "interrupted");
    ck_assert_int_eq(pthread_join(other, NULL), 0);
    forget(&c, &sim);
}

/* Threads with a context each. */
typedef struct alone {
    bn_status st;
    float psi[NX * NY];
    char said[512];
} alone;

static void *run_alone(void *user)
{
    alone *a = user;
    bn_context *own = NULL;
    bn_case *c = NULL;
    bn_device *d = NULL;
    bn_sim *sim = NULL;
    if ((a->st = bn_context_create(NULL, &own)) != BN_OK)
        return NULL;
    a->st = bn_case_parse(own, "room", "", room, ROOM, &c);
    if (a->st == BN_OK)
        a->st = bn_device_open(own, "auto", false, &d);
    if (a->st == BN_OK)
        a->st = bn_run(own, c, &(bn_run_options){ .sim.device = d }, &sim);
    if (a->st == BN_OK)
        a->st = bn_sim_get(sim, "psi", NULL, BN_NUMBERS_OWN, a->psi);
    snprintf(a->said, sizeof a->said, "%s", bn_error_text(own));
    bn_sim_destroy(&sim);
    bn_device_close(&d);
    bn_case_destroy(&c);
    bn_context_destroy(&own);
    return NULL;
}

TEST(threads_do_not_meet)
{
    enum { THREADS = 3 };
    alone one, *all = calloc(THREADS, sizeof *all);
    pthread_t thread[THREADS];
    (void)run_alone(&one);
    ck_assert_msg(one.st == BN_OK, "%s", one.said);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, run_alone, &all[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
        ck_assert_msg(all[i].st == BN_OK, "%s", all[i].said);
        ck_assert_mem_eq(all[i].psi, one.psi, sizeof one.psi);
    }
    free(all);
}

TEST(maps_are_drawn)
{
    char path[] = "/tmp/binnacle-map-XXXXXX";
    unsigned char head[8] = { 0 };
    const double values[6] = { 1, -2, 3, (double)NAN, 5, -6 };
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    OK(bn_map_draw(ctx, &(bn_map){ .name = "q", .n = { 3, 2 }, .h = { 1, 1 }, .values = values, .cells = true }, path));
    FILE *file = fdopen(fd, "rb");
    ck_assert(file && fseek(file, 0, SEEK_SET) == 0);
    (void)freopen(path, "rb", file); /* it was written aside and renamed */
    ck_assert_uint_eq(fread(head, 1, 8, file), 8);
    ck_assert_mem_eq(head, "\x89PNG\r\n\x1a\n", 8);
    (void)fclose(file);
    (void)remove(path);
    fails(bn_map_draw(ctx, &(bn_map){ .name = "q" }, path), BN_USAGE, "can't be drawn");
}

int main(void) { return bn_test_main("library", set_up, tear_down); }
