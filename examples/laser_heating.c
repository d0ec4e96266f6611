/* laser_heating.c: two solvers coupled through their fields: light that `maxwell` finds absorbed in a film becomes
 * heat, which `flow` conducts away, as if all were water.
 *
 * cc laser_heating.c $(pkg-config --cflags --libs binnacle) -lm -o laser_heating
 *   ./laser_heating data/cases/maxwell/starter.toml */
#include <binnacle/binnacle.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NX = 60, NZ = 110 };                 /* cells of the case, along the film and upwards */
static const double spacing = 10e-9;        /* [m] */
static const double wavelength = 650e-9;    /* [m] */
static const double intensity = 1e9;        /* of the light [W/m2] */
static const double extinction = 0.3725;    /* of the film, amorphous silicon */
static const double above = 1.5;            /* refractive index of the glass that the light comes from */
static const double film = 3;               /* only the film has a refractive index above */
static const double heat_capacity = 4.18e6; /* of water by volume [J/(m3 K)] */

/* |E| after 400 iterations, for an incident wave of 1 V/m, and the refractive index. */
static bn_status light(bn_context *ctx, bn_device *device, const char *path, double *field, double *index)
{
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    bn_status st = BN_OK;
    BN_GO(bn_case_read(ctx, path, NULL, 0, &c));
    BN_GO(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = device }, &sim));
    BN_GO(bn_sim_advance(sim, 400, NULL));
    BN_GO(bn_sim_get(sim, "E_norm", NULL, BN_NUMBERS_DOUBLE, field));
    BN_GO(bn_sim_get(sim, "n", NULL, BN_NUMBERS_DOUBLE, index));
out:
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    return st;
}

/* A box of water of the same cells, built key by key; its walls stay at the temperature 0 above the surroundings. */
static bn_status water(bn_context *ctx, bn_device *device, bn_case **c, bn_sim **sim)
{
    char nodes[64], size[96];
    snprintf(nodes, sizeof nodes, "grid.nodes=[%d, %d]", NX, NZ);
    snprintf(size, sizeof size, "grid.size=[%.9g, %.9g]", (NX - 1) * spacing, (NZ - 1) * spacing);
    const char *keys[] = { "case.solver=flow",
                           nodes,
                           size,
                           "fluid.viscosity=1e-6 m2/s",
                           "fluid.diffusivity=1.43e-7 m2/s",
                           "boundary.left.heat=given",
                           "boundary.right.heat=given",
                           "boundary.top.heat=given",
                           "boundary.bottom.heat=given",
                           "time.dt=1e-9 s" };
    BN_TRY(bn_case_parse(ctx, "water", "", keys, sizeof keys / sizeof *keys, c));
    return bn_sim_create(ctx, *c, &(bn_sim_desc){ .device = device }, sim);
}

int main(int argc, char **argv)
{
    bn_context *ctx;
    bn_device *device = NULL;
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    bn_status st = BN_OK;
    double *field = malloc(NX * NZ * sizeof *field), *heat = calloc(NX * NZ, sizeof *heat);
    if (argc < 2 || !field || !heat || bn_context_create(NULL, &ctx) != BN_OK)
        return 1;
    BN_GO(bn_device_open(ctx, "auto", false, &device));
    BN_GO(light(ctx, device, argv[1], field, heat));
    BN_GO(water(ctx, device, &c, &sim));
    /* Absorbed power per volume: 4 pi k / wavelength times the local n |E|^2 over that of the incident wave, times its
     * intensity; per step and heat capacity a change of temperature. */
    const double dt = 1e-9, rate = 4 * acos(-1) / wavelength * extinction * intensity / above;
    for (int at = 0; at < NX * NZ; at++) {
        const bool wall = at % NX == 0 || at % NX == NX - 1; /* what is written there stays */
        const double index = heat[at];
        heat[at] = index > film && !wall ? dt * rate * index * field[at] * field[at] / heat_capacity : 0;
    }
    for (int step = 0; step < 100; step++) {
        BN_GO(bn_sim_add(sim, "temperature", NULL, BN_NUMBERS_DOUBLE, heat));
        BN_GO(bn_sim_advance(sim, 1, NULL));
        if (step % 20 == 19) {
            double warmest = 0;
            BN_GO(bn_sim_get(sim, "temperature", NULL, BN_NUMBERS_DOUBLE, field));
            for (int i = 0; i < NX * NZ; i++)
                warmest = fmax(warmest, field[i]);
            printf("%4.0f ns: the warmest place is %.3f K warmer\n", 1e9 * bn_sim_now(sim).time, warmest);
        }
    }
out:
    if (st != BN_OK)
        fprintf(stderr, "%s\n", bn_error_text(ctx));
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    bn_device_close(&device);
    bn_context_destroy(&ctx);
    free(field);
    free(heat);
    return bn_exit_code(st);
}
