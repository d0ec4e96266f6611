/* flood_walkers.c: a program that walks beside a flood: three people stand in a building, every two seconds they look
 * at the water around them, and leave when it is too deep or too fast for them. cc flood_walkers.c $(pkg-config
 * --cflags --libs binnacle) -o flood_walkers
 *   ./flood_walkers data/cases/flood/house.toml */
#include <binnacle/binnacle.h>
#include <binnacle/flood.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct walker {
    const char *name;
    unsigned storey;
    double at[2]; /* [m] */
    bool gone;
} walker;

/* Hazard rating of the water, h (v + 0.5 m/s): from 0.75 on dangerous for some, children among them. */
static const double dangerous = 0.75;

static int fail(bn_context *ctx)
{
    fprintf(stderr, "%s\n", bn_error_text(ctx));
    return bn_exit_code(bn_error_status(ctx));
}

static bn_status look(bn_context *ctx, bn_sim *sim, const bn_flood_grid *g, double *depth, double *speed, walker *w,
                      double time)
{
    unsigned cell, row;
    BN_TRY(bn_flood_read(ctx, sim, w->storey, depth, speed, (size_t)g->cells * g->rows));
    if (!bn_flood_find(g, w->at, &cell, &row))
        return BN_OK;
    const size_t at = (size_t)row * g->cells + cell;
    printf("%5.0f s  %-6s storey %u  %5.1f cm  %4.2f m/s%s\n", time, w->name, w->storey, 100 * depth[at], speed[at],
           depth[at] * (speed[at] + 0.5) > dangerous ? "  leaves" : "");
    w->gone = depth[at] * (speed[at] + 0.5) > dangerous;
    return BN_OK;
}

int main(int argc, char **argv)
{
    walker people[] = { { "Ada", 1, { 4, 10 }, false },
                        { "Blaise", 1, { 12, 15 }, false },
                        { "Grace", 3, { 4, 20 }, false } };
    bn_context *ctx;
    bn_case *config;
    bn_device *device;
    bn_sim *sim;
    bn_flood_grid g;
    if (argc < 2 || bn_context_create(NULL, &ctx) != BN_OK)
        return 1;
    if (bn_case_read(ctx, argv[1], NULL, 0, &config) != BN_OK || bn_device_open(ctx, "auto", false, &device) != BN_OK ||
        bn_sim_create(ctx, config, &(bn_sim_desc){ .device = device }, &sim) != BN_OK ||
        bn_flood_describe(ctx, sim, &g) != BN_OK)
        return fail(ctx);
    double *depth = malloc((size_t)g.cells * g.rows * sizeof *depth);
    double *speed = malloc((size_t)g.cells * g.rows * sizeof *speed);
    while (depth && speed && bn_sim_now(sim).time < 40) {
        if (bn_flood_advance(ctx, sim, 2) != BN_OK)
            return fail(ctx);
        for (size_t i = 0; i < sizeof people / sizeof *people; i++)
            if (!people[i].gone && look(ctx, sim, &g, depth, speed, &people[i], bn_sim_now(sim).time) != BN_OK)
                return fail(ctx);
    }
    free(depth);
    free(speed);
    bn_sim_destroy(&sim);
    bn_device_close(&device);
    bn_case_destroy(&config);
    bn_context_destroy(&ctx);
    return 0;
}
