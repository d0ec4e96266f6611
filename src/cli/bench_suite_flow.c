/* bench_suite_flow.c: the published study 004: flow: products of conjugate gradients, whole time steps. */
#include "cli/bench_suites.h"

#include "studies/cg_products.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECOND(id, text) text,
static const bn_bench_case cg_products_case = {
    .solver = "cg_products",
    .what = "conjugate gradients in separate kernels",
    .unit = "point",
    .text = "[case]\nsolver='cg_products'\n[stop]\nsteps=100000000\n",
    .dims = 2,
};

static bn_status products(const bn_suite *s, unsigned n, bool twice)
{
    static const char *const spmv[] = { CG_PRODUCTS_SPMV(SECOND) };
    static const char *const dot[] = { CG_PRODUCTS_DOT(SECOND) };
    const char *precision = twice ? "double" : "single";
    double published = (double)NAN;
    bn_published t = bn_published_open("data/published/seed-004-cg.csv");
    while (bn_published_next(&t))
        if (strcmp(bn_published_text(&t, "precision"), precision) == 0 && (unsigned)bn_published_number(&t, "N") == n &&
            strcmp(bn_published_text(&t, "system"), "A") == 0)
            published = 1e6 * bn_published_seconds(&t, "gpu_dia2_time") / bn_published_number(&t, "iter");
    for (int v = 0; v < 3; v++)
        for (int p = 0; p < 6; p++) {
            double seconds = (double)NAN;
            bn_bench_job job;
            if (v != SPMV_LOCAL && p != DOT_NORM)
                continue;
            bn_bench_prepare(&cg_products_case, n, twice, s->gpu, &job);
            snprintf(job.sets[job.set_count++], BN_BENCH_SET, "grid.nodes=[%u,%u]", n, n);
            snprintf(job.sets[job.set_count++], BN_BENCH_SET, "solver.spmv=%s", spmv[v]);
            snprintf(job.sets[job.set_count++], BN_BENCH_SET, "solver.dot=%s", dot[p]);
            BN_TRY(bn_suite_seconds(s, &job, &seconds));
            BN_TRY(bn_suite_add(s, v == SPMV_LOCAL && p == DOT_NORM ? published : (double)NAN,
                                1e6 * seconds / CG_PRODUCTS_ITERATIONS, "us",
                                "CG, an iteration, %4u^2, %s: product %s, dot %s", n, precision, spmv[v], dot[p]));
        }
    return BN_OK;
}

bn_status bn_suite_flow(const bn_suite *s)
{
    const unsigned most = s->gpu ? 1024 : s->quick ? 64 : 256;
    const bool fp64 = bn_device_describe(s->d->plain)->fp64;
    bn_bench_case of = bn_suite_base("flow");
    for (unsigned n = 64; n <= most; n *= 4)
        for (int twice = 0; twice < (fp64 && !s->quick ? 2 : 1); twice++)
            BN_TRY(products(s, n, twice));
    bn_published t = bn_published_open("data/published/flow-seed-times.csv");
    while (bn_published_next(&t)) {
        const unsigned n = (unsigned)bn_published_number(&t, "N");
        const bool twice = strcmp(bn_published_text(&t, "precision"), "double") == 0;
        const double published = 1e3 * (bn_published_seconds(&t, "total") - bn_published_seconds(&t, "save"));
        double seconds = (double)NAN;
        /* Beside the second version on the GPU our conjugate gradients; beside the one on the host the default method.
         */
        const bool cg = strcmp(bn_published_text(&t, "version"), "GPU_2") == 0,
                   best = strcmp(bn_published_text(&t, "version"), "CPU") == 0;
        const char *version = bn_published_text(&t, "version"), *precision = bn_published_text(&t, "precision"),
                   *why = !cg && !best                       ? "a version of the study's own"
                          : n <= most || (best && !s->quick) ? NULL
                          : s->quick                         ? "left out with --quick"
                                                             : "takes minutes on a CPU";
        if (!why || s->checks) {
            bn_bench_job job;
            of.sets[0] = cg ? "solver.poisson=cg" : NULL;
            of.sets[1] = cg ? "solver.diffusion=cg" : NULL;
            of.sets[2] = NULL;
            of.what = cg ? "time step, CG" : "time step, direct";
            bn_bench_prepare(&of, n, twice, s->gpu, &job);
            BN_TRY(bn_suite_seconds(s, &job, &seconds));
        }
        if (why)
            BN_TRY(bn_suite_skip(s, published, "ms", why, "time step without saving, %4u^2, %s: %s", n, precision,
                                 version));
        else
            BN_TRY(bn_suite_add(s, published, 1e3 * seconds, "ms", "time step without saving, %4u^2, %s: %s; ours %s",
                                n, precision, version, cg ? "by CG" : "direct"));
    }
    return BN_OK;
}
