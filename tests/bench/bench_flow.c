/* bench_flow.c: times of the linear solvers and of whole time steps of flow on one device, beside what the data they
 * must move would take at the measured copy bandwidth. Never part of the tests. bench_flow [DEVICE [N,N,...
 * [single|double]]]        DEVICE: "auto", a number, "gpu", ...; N: nodes along a side */
#include "bench.h"

#include "api/launch.h"
#include "numerics/linear.h"
#include "numerics/spectral.h"
#include "numerics/spectral_plan.h"
#include "sim/solver.h"

static double bandwidth;
static const double ROUND_SECONDS = 0.1;

/* Poisson's equation on n x n nodes of the unit square, zero at the border, a smooth right-hand side with noise. */
typedef struct problem {
    uint32_t n;
    bn_domain *domain;
    uint8_t *bits;
    bn_stencil stencil;
    bn_linear_work work;
    bn_field *x, *b;
} problem;

static bn_field *field(bn_domain *d, const char *name, bn_type type)
{
    bn_field *f;
    need(bn_field_create(d, &(bn_field_desc){ .name = name, .type = type }, &f));
    return f;
}

static problem create(uint32_t n, bn_precision precision)
{
    problem p = { .n = n };
    const size_t points = (size_t)n * n;
    const bn_domain_desc desc = { .grid = { .dims = 2, .n = { n, n, 1 }, .h = { 1, 1, 1 }, .nodes = true },
                                  .precision = precision,
                                  .halo = 1,
                                  .device = device };
    need(bn_domain_create(ctx, &desc, &p.domain));
    bool *unknown = calloc(points, 1), *cell = calloc(points, 1);
    double *b = calloc(points, sizeof *b);
    p.bits = calloc(points, 1);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = 0; i < n; i++) {
            const size_t at = (size_t)j * n + i;
            unknown[at] = i > 0 && j > 0 && i + 1 < n && j + 1 < n;
            cell[at] = true;
            b[at] = unknown[at] ? 1 + 0.1 * (double)(at * 2654435761u % 1000) / 1000 : 0;
        }
    bn_stencil_bits(n, n, unknown, cell, p.bits);
    const double k = (double)(n - 1) * (n - 1);
    p.stencil = (bn_stencil){ n, n, 0, k, k, p.bits };
    p.x = field(p.domain, "x", BN_T_REAL);
    p.b = field(p.domain, "b", BN_T_REAL);
    p.work = (bn_linear_work){ .bits = field(p.domain, "bits", BN_T_U8),
                               .r = field(p.domain, "r", BN_T_REAL),
                               .p = field(p.domain, "p", BN_T_REAL),
                               .q = field(p.domain, "q", BN_T_REAL),
                               .z = field(p.domain, "z", BN_T_REAL) };
    need(bn_field_set(p.b, b, points));
    free(unknown);
    free(cell);
    free(b);
    return p;
}

static void destroy(problem *p)
{
    bn_field **fields[] = { &p->x, &p->b, &p->work.bits, &p->work.r, &p->work.p, &p->work.q, &p->work.z };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        bn_field_destroy(fields[i]);
    bn_domain_destroy(&p->domain);
    free(p->bits);
}

/* A solve that ends at `iterations` or `tolerance`, from zero. */
typedef struct solving {
    problem *p;
    bn_linear *l;
    bn_spectral *spectral; /* NULL: by `l` */
    bn_cg_target target;
} solving;

static void solve(void *user)
{
    const solving *s = user;
    if (s->spectral) {
        need(bn_spectral_solve(s->spectral, s->p->x, s->p->b));
        return;
    }
    need(bn_field_zero(s->p->x));
    need(bn_linear_solve(s->l, s->p->x, s->p->b, &s->target));
}

static void wait_for(void *user) { need(bn_domain_finish(((solving *)user)->p->domain)); }

/* Of a solve, with the zeroing of its start. */
static bench_time time_solve(problem *p, const bn_linear_desc *desc, double tolerance, unsigned iterations,
                             bn_cg_report *report)
{
    solving s = { .p = p, .target = { tolerance, iterations } };
    need(bn_linear_create(p->domain, desc, &p->work, &s.l));
    solve(&s); /* learns how many iterations to launch */
    wait_for(&s);
    const bench_time t = bench_rounds(solve, wait_for, &s, ROUND_SECONDS);
    const bn_status st = bn_linear_report(s.l, report);
    if (st != BN_OK && report->state != BN_CG_LIMIT)
        need(st);
    if (st != BN_OK) /* the limit is what was asked for */
        bn_error_clear(ctx);
    bn_linear_destroy(&s.l);
    return t;
}

static void print(const char *what, uint32_t n, const char *precision, bench_time t, double bytes)
{
    const double floor = bytes * (double)n * n / bandwidth;
    if (!bench_row(t, floor, "%s, %u^2, %s", what, n, precision))
        return;
    bench_print_time(t, 1e6, "us");
    printf("  floor %.4g us, %.1f %%\n", 1e6 * floor, 100 * floor / t.seconds);
}

static bench_time per(bench_time t, double count) { return (bench_time){ t.seconds / count, t.spread }; }

static void bench_iterations(uint32_t n, bn_precision precision, const char *name)
{
    const double real = precision == BN_DOUBLE ? 8 : 4;
    const unsigned count = 200;
    problem p = create(n, precision);
    bn_cg_report report = { 0 };
    const bn_linear_desc desc = { .name = "bench", .stencil = p.stencil, .method = BN_LINEAR_CG };
    const bench_time t = time_solve(&p, &desc, 1e-30, count, &report);
    print("CG, an iteration", n, name, per(t, report.iterations), 8 * real + 2);
    destroy(&p);
}

/* Bytes: transforms there and back, in three passes; multigrid as it is counted in docs/performance.md. */
static void bench_poisson(uint32_t n, bn_precision precision, const char *name)
{
    const double real = precision == BN_DOUBLE ? 8 : 4;
    const char *why;
    problem p = create(n, precision);
    bn_cg_report report = { 0 };
    if (bn_spectral_suits(&p.stencil, (size_t)real, &why)) {
        solving direct = { .p = &p };
        need(bn_spectral_create(p.domain, &p.stencil, p.work.q, &direct.spectral));
        print("direct Poisson solve", n, name, bench_rounds(solve, wait_for, &direct, ROUND_SECONDS), 6 * real);
        bn_spectral_destroy(&direct.spectral);
    }
    const bn_linear_desc desc = { .name = "bench", .stencil = p.stencil, .method = BN_LINEAR_MULTIGRID };
    const double tolerance = precision == BN_DOUBLE ? 1e-10 : 1e-6;
    const bench_time t = time_solve(&p, &desc, tolerance, 1000, &report);
    char text[64];
    snprintf(text, sizeof text, "multigrid CG to %.0e, %u cycles", tolerance, report.iterations);
    print(text, n, name, t, report.iterations * (45 / 4.0 + 8 + 2) * real);
    destroy(&p);
}

static void step(void *sim) { need(bn_sim_step(sim)); }
static void finish_step(void *sim) { need(bn_domain_finish(bn_sim_domain(sim))); }

static void bench_step(uint32_t n, const char *precision, const char *more)
{
    char nodes[64], what[64], both[64];
    snprintf(nodes, sizeof nodes, "grid.nodes=[%u,%u]", n, n);
    snprintf(both, sizeof both, "case.precision=%s", precision);
    const char *overrides[] = {
        nodes, both, "fluid.diffusivity=0.001", "boundary.top.heat=given", "boundary.top.temperature=1", more
    };
    bn_case *c;
    bn_sim *sim;
    need(bn_case_parse(ctx, "bench", "[case]\nsolver = \"flow\"\n[fluid]\nviscosity = 0.001\n", overrides, more ? 6 : 5,
                       &c));
    need(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = device }, &sim));
    snprintf(what, sizeof what, "time step with heat%s%s", more ? ", " : "", more ? strchr(more, '=') + 1 : "");
    print(what, n, precision, bench_rounds(step, finish_step, sim, ROUND_SECONDS),
          (strcmp(precision, "double") == 0 ? 8 : 4) * (3 * 8 + 20));
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
}

int main(int argc, char **argv)
{
    need(bn_context_create(NULL, &ctx));
    need(bn_device_open(ctx, argc > 1 ? argv[1] : NULL, false, &device));
    need(bn_device_bandwidth(device, &bandwidth));
    const bn_device_info *info = bn_device_describe(device);
    bench_begin(argc, argv, bandwidth);
    const char *sizes = argc > 2 ? argv[2] : !info->cpu ? "64,256,257,1024,1025,4096,4097" : "64,256,257,1024,1025";
    for (int d = 0; d < (info->fp64 ? 2 : 1); d++) {
        const char *name = d ? "double" : "single";
        char *end = NULL;
        if (argc > 3 && strcmp(argv[3], name) != 0)
            continue;
        for (const char *at = sizes; *at; at = *end ? end + 1 : end) {
            const uint32_t n = (uint32_t)strtoul(at, &end, 10);
            if (n < 5 || (*end && *end != ',')) {
                fprintf(stderr, "bench: sizes are numbers from 5 on with commas between, not %s\n", sizes);
                return 2;
            }
            bench_poisson(n, (bn_precision)d, name);
            if (n % 2 == 0)
                bench_iterations(n, (bn_precision)d, name);
            if (n <= 1025) {
                bench_step(n, name, NULL);
                bench_step(n, name, "solver.poisson=multigrid");
            }
        }
    }
    return bench_end();
}
