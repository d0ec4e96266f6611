/* cli_sweep_optimize.c: `binnacle sweep --optimize`: the best values of keys between bounds, by NLopt: a third of the
 * evaluations looks everywhere (DIRECT: D. R. Jones et al. (1993), J. Optim. Theory Appl. 79, 157), the others refine
 * the best place (BOBYQA: M. J. D. Powell (2009), DAMTP 2009/NA06; of one key Subplex). Both choose the next point from
 * the values alone, so an optimisation that is begun again comes by the points that are there. */
#include "cli/cli_sweep.h"

#include "cli/cli_text.h"
#include "io/file.h"

#include <math.h>
#include <nlopt.h>
#include <stdio.h>
#include <string.h>

static const double converged = 1e-5; /* of the range of each key */

typedef struct search {
    bn_sweep *sweep;
    bn_status status;
    bool everywhere;       /* the first part */
    double worst, here[6]; /* worst: of all values so far; here: the best point in shares of the ranges */
} search;

double bn_sweep_goal(const bn_sweep *s, size_t point)
{
    return bn_json_number(json_object_get(s->summary[point], "results"), s->goal);
}

bool bn_sweep_best(const bn_sweep *s, size_t *point)
{
    bool found = false;
    for (size_t p = 0; p < s->points; p++) {
        const double value = bn_sweep_goal(s, p);
        if (!isfinite(value) ||
            (found && !(s->most ? value > bn_sweep_goal(s, *point) : value < bn_sweep_goal(s, *point))))
            continue;
        *point = p;
        found = true;
    }
    return found;
}

/* The first point that succeeds tells whether there is such a result. */
static bn_status check_goal(const bn_sweep *s, size_t p)
{
    json_t *results = json_object_get(s->summary[p], "results");
    char known[1024];
    if (!results || json_object_get(results, s->goal))
        return BN_OK;
    bn_sweep_names(results, known, sizeof known);
    return bn_fail(s->cli->ctx, BN_USAGE, "--optimize: there is no result `%s`; there are %s", s->goal, known);
}

static bn_status add_point(bn_sweep *s, unsigned n, const double *x)
{
    for (unsigned a = 0; a < n; a++) {
        bn_sweep_axis *axis = &s->axis[a];
        char text[BN_SWEEP_TEXT];
        const double value = axis->low + (axis->high - axis->low) * x[a];
        const int bytes = snprintf(text, sizeof text, "%.12g%s%.64s", value, axis->unit[0] ? " " : "", axis->unit);
        BN_TRY(bn_sweep_add(s, axis, text, (size_t)bytes, value));
    }
    s->points++;
    return BN_OK;
}

static void print_progress(const bn_sweep *s, size_t p, double value)
{
    if (s->cli->options->run.quiet)
        return;
    fprintf(stderr, "%zu of at most %zu  ", p + 1, s->room);
    for (size_t a = 0; a < s->axis_count; a++)
        fprintf(stderr, "%s = %s  ", s->axis[a].key, s->axis[a].text[p]);
    if (isfinite(value))
        fprintf(stderr, "%s = %.9g\n", s->goal, value);
    else
        fprintf(stderr, "failed: %s\n", s->reason[p] ? s->reason[p] : "no number");
}

/* What NLopt calls. DIRECT leaves points out that have no value; to BOBYQA, whose model needs one, a failed point is as
 * bad as the worst. */
static double evaluate(unsigned n, const double *x, double *gradient, void *user)
{
    search *of = user;
    bn_sweep *s = of->sweep;
    const size_t p = s->points;
    size_t best = 0;
    (void)gradient;
    if (of->status == BN_OK && p < s->room && !*s->cli->stop)
        of->status = add_point(s, n, x);
    if (s->points == p + 1)
        of->status = of->status == BN_OK ? bn_sweep_evaluate(s, p) : of->status;
    if (of->status == BN_OK && s->points == p + 1)
        of->status = check_goal(s, p);
    if (of->status != BN_OK || s->points == p ||
        *s->cli->stop) /* soon over: nlopt_force_stop crashes DIRECT in 2.7.1 */
        return of->everywhere ? HUGE_VAL : of->worst;
    const double value = bn_sweep_goal(s, p), sought = s->most ? -value : value;
    print_progress(s, p, value);
    if (!isfinite(value))
        return of->everywhere ? HUGE_VAL : of->worst;
    of->worst = of->worst > sought ? of->worst : sought;
    if (bn_sweep_best(s, &best) && best == p)
        memcpy(of->here, x, n * sizeof *x);
    return sought;
}

/* One of the two parts, of so many evaluations at most. */
static bn_status run_part(search *of, nlopt_algorithm algorithm, size_t evaluations)
{
    bn_sweep *s = of->sweep;
    double value, x[6];
    memcpy(x, of->here, sizeof x);
    nlopt_opt optimizer = nlopt_create(algorithm, (unsigned)s->axis_count);
    if (!optimizer)
        return bn_fail(s->cli->ctx, BN_MEMORY, "no memory for the optimiser");
    const bool set = nlopt_set_min_objective(optimizer, evaluate, of) > 0 &&
                     nlopt_set_lower_bounds1(optimizer, 0) > 0 && nlopt_set_upper_bounds1(optimizer, 1) > 0 &&
                     nlopt_set_xtol_abs1(optimizer, converged) > 0 && nlopt_set_initial_step1(optimizer, 0.1) > 0 &&
                     nlopt_set_maxeval(optimizer, (int)evaluations) > 0;
    const nlopt_result end = set ? nlopt_optimize(optimizer, x, &value) : NLOPT_FAILURE;
    nlopt_destroy(optimizer);
    BN_TRY(of->status);
    if (*s->cli->stop)
        return bn_fail(s->cli->ctx, BN_INTERRUPTED, "stopped after %zu evaluations; the same command goes on",
                       s->points - (s->points > 0));
    if (end < 0 && end != NLOPT_ROUNDOFF_LIMITED)
        return bn_fail(s->cli->ctx, BN_DIVERGED, "the optimiser gave up: %s", nlopt_result_to_string(end));
    return BN_OK;
}

/* The best case as a file of its own, and a line about it. */
static bn_status write_best(const bn_sweep *s)
{
    size_t best = 0, bytes = 0;
    char *text = NULL;
    const bn_path to = bn_path_join(s->out, "best.toml");
    if (!bn_sweep_best(s, &best))
        return BN_OK;
    BN_TRY(bn_file_read(s->cli->ctx, bn_sweep_path(s, best, "case.toml").text, 1 << 26, &text, &bytes));
    const bn_status st = bn_file_write(s->cli->ctx, to.text, text, bytes);
    free(text);
    if (st != BN_OK || s->cli->options->run.json)
        return st;
    printf("%s: %.9g", s->most ? "largest" : "smallest", bn_sweep_goal(s, best));
    for (size_t a = 0; a < s->axis_count; a++)
        printf("%s%s = %s", a ? ", " : " at ", s->axis[a].key, s->axis[a].text[best]);
    printf(" (evaluation %zu of %zu)\n%s\n", best + 1, s->points, to.text);
    return BN_OK;
}

bn_status bn_sweep_optimize(bn_sweep *s)
{
    search of = { .sweep = s, .worst = -HUGE_VAL, .everywhere = true, .here = { 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 } };
    size_t best;
    for (size_t a = 0; a < s->axis_count; a++)
        s->axis[a].count = 0;
    s->points = 0;
    BN_TRY(run_part(&of, NLOPT_GN_ORIG_DIRECT_L, s->room / 3 + 1));
    of.everywhere = false;
    if (s->points < s->room && bn_sweep_best(s, &best))
        BN_TRY(run_part(&of, s->axis_count > 1 ? NLOPT_LN_BOBYQA : NLOPT_LN_SBPLX, s->room - s->points));
    return write_best(s);
}
