/* test_guard.c: what a scheme conserves is looked at in guarded steps: water of flood, power of bpm where nothing
 * absorbs, photons of xray; a field that was damaged between two of them shows. */
#include "sim/sim_parts.h"
#include "support_case.h"

#include <stdio.h>
#include <string.h>

/* A self-test case with a guarded step, `by` added to an element of a field, and another step, which fails with `says`
 * (NULL: it does not). */
typedef struct damage {
    const char *solver, *key, *other_key, *field;
    int component;
    double by;
    const char *says;
} damage;

static void look(const damage *d, const char *precision)
{
    char path[64];
    bn_device *device = opened_device();
    bn_case *c;
    bn_sim *sim;
    snprintf(path, sizeof path, "data/cases/%s/selftest.toml", d->solver);
    OK(bn_case_read(ctx, path, (const char *const[]){ precision, d->key, d->other_key },
                    d->other_key ? 3
                    : d->key     ? 2
                                 : 1,
                    &c));
    OK(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = device }, &sim));
    bn_sim_guard(sim, 1);
    OK(bn_sim_step(sim));
    const bn_sim_field_info *f = bn_sim_field_at(sim, 0);
    for (size_t i = 0; i < bn_sim_field_count(sim); i++)
        if (strcmp(bn_sim_field_at(sim, i)->name, d->field) == 0)
            f = bn_sim_field_at(sim, i);
    ck_assert_str_eq(f->name, d->field);
    /* The power is that of the first beam. */
    const unsigned row = strcmp(d->solver, "bpm") == 0 ? 0 : f->n[1] / 2;
    const bn_field_part middle = {
        .first = d->component, .components = 1, .from = { f->n[0] / 2, row, 0 }, .n = { 1, 1, 1 }
    };
    if (f->real) {
        OK(bn_sim_add(sim, d->field, &middle, BN_NUMBERS_DOUBLE, (const double[]){ d->by, 0 }));
    } else {
        int64_t count;
        OK(bn_sim_get(sim, d->field, &middle, BN_NUMBERS_OWN, &count));
        count += (int64_t)d->by;
        OK(bn_sim_set(sim, d->field, &middle, BN_NUMBERS_OWN, &count));
    }
    const bn_status st = bn_sim_step(sim);
    ck_assert_msg(st == (d->says ? BN_MISMATCH : BN_OK), "%s: %s: status %d %s", d->solver, d->field, (int)st,
                  bn_error_text(ctx));
    ck_assert_msg(!d->says || strstr(bn_error_text(ctx), d->says), "%s", bn_error_text(ctx));
    bn_error_clear(ctx);
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
}

TEST(what_is_conserved)
{
    static const damage all[] = {
        { "flood", NULL, NULL, "depth", 0, 0.5, "mass_error" },
        { "bpm", "walls.kind=metal", NULL, "psi", 0, 0.01, "power_drift" },
        { "bpm", "walls.kind=pml", NULL, "psi", 0, 0.01, NULL }, /* power leaves */
        { "bpm", "walls.kind=metal", "march.theta=0.6", "psi", 0, 0.01, NULL },
        { "xray", NULL, NULL, "tallies", 1, 1, "uncounted is 1," },   /* scattered once */
        { "xray", NULL, NULL, "tallies", 10, -1, "uncounted is 1," }, /* missed */
        { "xray", NULL, NULL, "sums", 2, 1, "uncounted is 2.4e-07" }, /* 2^-22 */
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int p = 0; p < 2; p++)
            look(&all[i], p ? "case.precision=double" : "case.precision=single");
}

int main(void) { return bn_test_main("guard", open_context, close_context); }
