/* inverse_guide.c: an inverse problem by finite differences: which refractive index has the core of a slab guide whose
 * mode was measured to have an effective index of 1.4943542? Newton's method, with the derivative from a second run.
 *
 * cc inverse_guide.c $(pkg-config --cflags --libs binnacle) -lm -o inverse_guide
 *   ./inverse_guide data/cases/bpm/slab.toml */
#include <binnacle/binnacle.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* By the closed form for a core of 1.5 in 1.45, 3 um wide, at a wavelength of 1 um. */
static const double measured = 1.4943542;

/* The effective index of the mode, as the case has it after one step with this core. */
static bn_status effective_index(bn_context *ctx, bn_device *device, const char *path, double core, double *out)
{
    char structure[128];
    snprintf(structure, sizeof structure, "structure=[{ kind = \"slab\", index = %.17g, width = \"3 um\" }]", core);
    const char *keys[] = { structure, "march.length=0.1 um" };
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    bn_status st = BN_OK;
    BN_GO(bn_case_read(ctx, path, keys, sizeof keys / sizeof *keys, &c));
    BN_GO(bn_run(ctx, c, &(bn_run_options){ .sim.device = device }, &sim));
    const bn_results *results = bn_sim_results(sim);
    for (size_t i = 0; i < bn_results_count(results); i++)
        if (strcmp(bn_results_at(results, i)->name, "n_eff") == 0)
            *out = bn_results_at(results, i)->value;
out:
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    return st;
}

int main(int argc, char **argv)
{
    bn_context *ctx;
    bn_device *device = NULL;
    bn_status st = BN_OK;
    double core = 1.47, change = 1;
    if (argc < 2 || bn_context_create(NULL, &ctx) != BN_OK)
        return 1;
    /* A device with double precision, as the case asks for; without one, device NULL is the reference. */
    if (bn_device_open(ctx, "auto", false, &device) != BN_OK || !bn_device_describe(device)->fp64) {
        bn_error_clear(ctx);
        bn_device_close(&device);
    }
    for (int i = 0; i < 8 && fabs(change) > 1e-9; i++) {
        const double step = 1e-5;
        double here, beside;
        BN_GO(effective_index(ctx, device, argv[1], core, &here));
        BN_GO(effective_index(ctx, device, argv[1], core + step, &beside));
        change = (measured - here) * step / (beside - here);
        core += change;
        printf("effective index %.9f, so the core has %.7f\n", here, core);
    }
    if (fabs(core - 1.5) > 2e-5)
        st = bn_fail(ctx, BN_MISMATCH, "the core was 1.5, not %.7f", core);
out:
    if (st != BN_OK)
        fprintf(stderr, "%s\n", bn_error_text(ctx));
    bn_device_close(&device);
    bn_context_destroy(&ctx);
    return bn_exit_code(st);
}
