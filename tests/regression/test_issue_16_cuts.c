/* test_issue_16_cuts.c: a batch of photons that is cut into launches, left in its middle and gone on with gives the
 * bits of the reference, which flies it in one piece. */
#include "support_case.h"

#include "sim/sim_parts.h"

#include <stdlib.h>
#include <string.h>

/* One batch of 57 x 61 x 150 photons: the first launch has 16,384, which is no whole number of rounds of 3,477; photons
 * enter anew after each 41 steps in the second case, so that a coherence time ends between launches, too. */
static const char text[] =
    "[case]\nsolver = 'xray'\n[density]\nkind = 'offset-gratings'\ncells = [24, 20, 12]\ncell = [4e-9, 4e-9, 5e-9]\n"
    "value = 0.02\nwidth = 8e-9\npitch = 16e-9\n[source]\ntilt = [0.01, -0.005]\n"
    "[scattering]\nangle = 'polarised'\ntheta_max = 0.3\norder = 'multiple'\n"
    "[detector]\ncells = [57, 61]\ncell_angle = 0.01\nbeam_stop = 0\n";

static bool always(void *user)
{
    ++*(unsigned *)user;
    return true;
}

static void *values_of(run *r, const char *name, size_t *bytes)
{
    for (size_t i = 0; i < bn_sim_field_count(r->sim); i++) {
        const bn_sim_field_info *info = bn_sim_field_at(r->sim, i);
        if (strcmp(info->name, name) != 0)
            continue;
        *bytes = (size_t)info->n[0] * info->n[1] * (size_t)info->components * info->element_bytes;
        void *values = malloc(*bytes);
        ck_assert_ptr_nonnull(values);
        OK(bn_sim_read(r->sim, name, values, *bytes));
        return values;
    }
    ck_abort_msg("no field %s", name);
    return NULL;
}

static void same_bits(const char *const *overrides, bool presented_between)
{
    static const char *const names[] = { "tallies", "intensity", "amplitude", "photons" };
    bn_device *device = opened_device();
    bn_case *c;
    unsigned asked = 0, left = 0;
    run whole = run_case(text, NULL, overrides), cut = { 0 };
    size_t count = 0;
    while (overrides[count])
        count++;
    OK(bn_case_parse(ctx, "cut", text, overrides, count, &c));
    cut.config = c;
    OK(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = device }, &cut.sim));
    bn_sim_watch(cut.sim, always, &asked);
    while (!bn_sim_done(cut.sim)) {
        const unsigned long long before = bn_sim_now(cut.sim).step;
        OK(bn_sim_step(cut.sim));
        left += bn_sim_now(cut.sim).step == before;
        if (presented_between)
            OK(bn_sim_measure(cut.sim));
    }
    OK(bn_sim_measure(cut.sim));
    ck_assert_uint_ge(left, 1); /* the step was left before its end at least once */
    ck_assert_uint_ge(asked, left);
    ck_assert_uint_eq(bn_sim_now(cut.sim).step, bn_sim_now(whole.sim).step);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t bytes[2];
        void *a = values_of(&whole, names[i], &bytes[0]), *b = values_of(&cut, names[i], &bytes[1]);
        ck_assert_uint_eq(bytes[0], bytes[1]);
        ck_assert_msg(memcmp(a, b, bytes[0]) == 0, "%s differs", names[i]);
        free(a);
        free(b);
    }
    end_run(&cut);
    end_run(&whole);
}

TEST(one_batch_in_many_launches)
{
    same_bits((const char *const[]){ "source.photons=521550", "source.batch=150", NULL }, false);
}

TEST(fields_are_brought_up_to_date_between_them)
{
    same_bits((const char *const[]){ "source.photons=521550", "source.batch=50", "source.coherent_steps=1", NULL },
              true);
}

int main(void) { return bn_test_main("issue_16_cuts", open_context, close_context); }
