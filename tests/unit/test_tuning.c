/* test_tuning.c: what is known of a device comes from the program and from the user, the user's last; choices of the
 * case hold where it leaves the key open. */
#include "support.h"

#include "binnacle/sim.h"
#include "case/schema.h"
#include "sim/tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char folder[] = "/tmp/binnacle-tuning-XXXXXX";
static unsigned warnings;

static void count(void *user, int level, const char *text)
{
    (void)user, (void)text;
    warnings += level == BN_LOG_WARNING;
}

static bn_context *begin(void)
{
    bn_context *ctx;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(setenv("XDG_DATA_HOME", folder, 1), 0);
    ck_assert_int_eq(bn_context_create(&(bn_context_desc){ .log = count }, &ctx), BN_OK);
    return ctx;
}

static void end(bn_context **ctx)
{
    char command[256];
    bn_context_destroy(ctx);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static const bn_device_info h200 = { .name = "NVIDIA H200", .driver = "of another year", .max_work_group = 1024 };
static const bn_tuning_key of_flow = { .solver = "flow", .precision = "single", .device = &h200, .size_class = 16 };

static const bn_kernel_group *find(const bn_tuning *t, const char *kernel)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->groups[i].kernel, kernel) == 0)
            return &t->groups[i];
    return NULL;
}

/* data/tuning/nvidia-h200.json */
TEST(ships)
{
    bn_context *ctx = begin();
    bn_tuning t;
    bn_tuning_load(ctx, &of_flow, &t);
    ck_assert(find(&t, "flow_wall_vorticity") && !t.own);
    bn_tuning_release(&t);
    bn_tuning_key other = of_flow;
    const bn_device_info unknown = { .name = "NVIDIA H2000", .driver = "580.159.04", .max_work_group = 1024 };
    other.device = &unknown;
    bn_tuning_load(ctx, &other, &t);
    ck_assert_uint_eq(t.count, 0);
    bn_tuning_release(&t);
    const bn_device_info small = { .name = "NVIDIA H200", .driver = "580.159.04", .max_work_group = 64 };
    other.device = &small;
    ck_assert_uint_eq(warnings, 0);
    bn_tuning_load(ctx, &other, &t);
    ck_assert(!find(&t, "flow_wall_vorticity") && warnings > 0); /* more work-items than it takes */
    bn_tuning_release(&t);
    end(&ctx);
}

TEST(the_users_go_before)
{
    bn_context *ctx = begin();
    bn_tuning t;
    const bn_tuning_entry own[] = {
        { .name = "flow_wall_vorticity", .shape = { 32, 1, 1 }, .seconds = 1 },
        { .name = "solver.sweep", .value = "fused", .seconds = 1, .default_seconds = 2 },
    };
    const mode_t mask = umask(002); /* as where every user has a group of his own */
    ck_assert_int_eq(bn_tuning_store(ctx, &of_flow, own, 2), BN_OK);
    umask(mask);
    bn_tuning_load(ctx, &of_flow, &t);
    ck_assert(t.own && find(&t, "flow_wall_vorticity") && find(&t, "flow_advect_heat"));
    ck_assert_uint_eq(find(&t, "flow_wall_vorticity")->shape[0], 32);
    ck_assert(find(&t, "flow_advect_heat")->shape[0] > 1);
    ck_assert(t.choice_count == 1 && strcmp(t.choices[0].key, "solver.sweep") == 0);
    ck_assert_str_eq(t.choices[0].value, "fused");
    bn_tuning_release(&t);
    /* Another sweep of the same key chooses nothing: the choice is gone. One of another driver changes nothing. */
    const bn_device_info renewed = { .name = "NVIDIA H200", .driver = "newer", .max_work_group = 1024 };
    bn_tuning_key later = of_flow;
    later.device = &renewed;
    ck_assert_int_eq(bn_tuning_store(ctx, &later, own, 1), BN_OK);
    bn_tuning_load(ctx, &of_flow, &t);
    ck_assert_uint_eq(t.choice_count, 1);
    bn_tuning_release(&t);
    ck_assert_int_eq(bn_tuning_store(ctx, &of_flow, own, 1), BN_OK);
    bn_tuning_load(ctx, &of_flow, &t);
    ck_assert(t.choice_count == 0 && find(&t, "flow_wall_vorticity"));
    bn_tuning_release(&t);
    end(&ctx);
}

TEST(others_do_not_choose)
{
    bn_context *ctx = begin();
    bn_tuning t;
    char path[256];
    const bn_tuning_entry own = { .name = "flow_wall_vorticity", .shape = { 32, 1, 1 }, .seconds = 1 };
    ck_assert_int_eq(bn_tuning_store(ctx, &of_flow, &own, 1), BN_OK);
    snprintf(path, sizeof path, "%s/binnacle/tuning.json", folder);
    for (mode_t mode = 0602; mode <= 0620; mode += 0620 - 0602) {
        ck_assert_int_eq(chmod(path, mode), 0);
        warnings = 0;
        bn_tuning_load(ctx, &of_flow, &t);
        ck_assert(!t.own && warnings == 1);
        bn_tuning_release(&t);
    }
    end(&ctx);
}

TEST(half_a_database)
{
    bn_context *ctx = begin();
    bn_tuning t;
    char path[256];
    snprintf(path, sizeof path, "%s/binnacle", folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/binnacle/tuning.json", folder);
    FILE *f = fopen(path, "w");
    ck_assert(f && fputs("{\"format\": \"binnacle-tuning\", \"version\": 1, \"ent", f) >= 0 && fclose(f) == 0);
    bn_tuning_load(ctx, &of_flow, &t);
    ck_assert(warnings == 1 && !t.own && find(&t, "flow_wall_vorticity")); /* what ships is not touched by it */
    bn_tuning_release(&t);
    end(&ctx);
}

TEST(open_keys)
{
    bn_context *ctx = begin();
    bn_case *c = NULL;
    char text[BN_CASE_VALUE];
    ck_assert_int_eq(bn_case_parse(ctx, "t", "[case]\nsolver='xray'\n[source]\nphotons=1e6\nbatch=3\n", NULL, 0, &c),
                     BN_OK);
    ck_assert(bn_case_value(c, "solver.layers", text));
    ck_assert_str_eq(text, "0");
    ck_assert(bn_case_prefer(c, "solver.layers", "8"));
    ck_assert_int_eq(bn_case_int(c, "solver.layers"), 8);
    ck_assert(!bn_case_prefer(c, "solver.layers", "8 or so") && !bn_case_prefer(c, "solver.layers", "100000"));
    ck_assert(!bn_case_prefer(c, "solver.layers", "") && !bn_case_prefer(c, "solver.nothing", "1"));
    ck_assert_int_eq(bn_case_int(c, "solver.layers"), 8);
    char *resolved = NULL; /* the case stays what it was: runs of it may go on from each other's checkpoints */
    ck_assert_int_eq(bn_case_resolved(c, &resolved), BN_OK);
    ck_assert(strstr(resolved, "layers = 0\n") && !strstr(resolved, "layers = 8"));
    free(resolved);
    ck_assert(!bn_case_prefer(c, "source.batch", "5")); /* the case has chosen */
    ck_assert_int_eq(bn_case_int(c, "source.batch"), 3);
    ck_assert(!bn_case_prefer(c, "source.photons", "5")); /* no choice and no whole number */
    ck_assert(bn_case_prefer(c, "solver.estimator", "expected") && bn_case_choice(c, "solver.estimator") == 1);
    ck_assert(!bn_case_prefer(c, "solver.estimator", "expect") && bn_case_choice(c, "solver.estimator") == 1);
    bn_case_destroy(&c);
    const char *const sets[] = { "solver.sweep=auto", "solver.accelerate=anderson" };
    ck_assert_int_eq(
        bn_case_parse(ctx, "t", "[case]\nsolver='maxwell'\n[grid]\ncells=[48,48,48]\nspacing='10 nm'\n", sets, 2, &c),
        BN_OK);
    ck_assert(bn_case_prefer(c, "solver.sweep", "rows") && !bn_case_prefer(c, "solver.accelerate", "none"));
    ck_assert(bn_case_value(c, "solver.sweep", text));
    ck_assert_str_eq(text, "rows");
    bn_case_destroy(&c);
    end(&ctx);
}

int main(void) { return bn_test_main("tuning", NULL, NULL); }
