/* bench_rows.c: rows of published studies, and the tables that travel inside the program (data/published). */
#include "bench/bench_suites.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TROUBLE = BN_BENCH_REASON };

const char bn_suite_left_out[] = "left out with --quick";

/* `line` NULL: no point of the chart. */
BN_PRINTF(8, 0)
static bn_status add(const bn_suite *s, const char *line, double x, double published, double ours, const char *unit,
                     const char *why, const char *format, va_list list)
{
    char what[128];
    if (s->checks)
        return BN_OK;
    vsnprintf(what, sizeof what, format, list);
    json_t *row = json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o}", "what", bn_json_text(what), "line",
                            line ? bn_json_text(line) : json_null(), "x", bn_json_real(x), "published",
                            bn_json_real(published), "ours", bn_json_real(ours), "unit", unit, "ratio",
                            bn_json_real(ours / published), "missing",
                            isfinite(ours) ? json_null() : bn_json_text(why[0] ? why : "nothing was measured for it"));
    return bn_bench_add_row(s->d->wish->ctx, s->rows, row, NULL);
}

BN_PRINTF(8, 9)
static bn_status add_any(const bn_suite *s, const char *line, double x, double published, double ours, const char *unit,
                         const char *why, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const bn_status st = add(s, line, x, published, ours, unit, why, format, list);
    va_end(list);
    return st;
}

bn_status bn_suite_add(const bn_suite *s, double published, double ours, const char *unit, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const bn_status st = add(s, NULL, (double)NAN, published, ours, unit, s->why, format, list);
    va_end(list);
    return st;
}

bn_status bn_suite_skip(const bn_suite *s, double published, const char *unit, const char *why, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const bn_status st = add(s, NULL, (double)NAN, published, (double)NAN, unit, why, format, list);
    va_end(list);
    return st;
}

bn_status bn_suite_point(const bn_suite *s, const char *line, double x, double published, double ours, const char *unit)
{
    return add_any(s, line, x, published, ours, unit, s->why, "%s at %.6g", line, x);
}

bn_status bn_suite_skip_point(const bn_suite *s, const char *line, double x, double published, const char *unit,
                              const char *why)
{
    return add_any(s, line, x, published, (double)NAN, unit, why, "%s at %.6g", line, x);
}

bn_status bn_suite_measure(const bn_suite *s, const bn_bench_job *job, bool kernels, bn_bench_result *out)
{
    char trouble[TROUBLE] = "";
    *out = (bn_bench_result){ .seconds = (double)NAN, .updates = (double)NAN };
    s->why[0] = '\0';
    if (s->checks)
        return bn_bench_check(s->d, job);
    bn_bench_tell(s->d, job);
    BN_TRY(bn_bench_measure(s->d, job, kernels ? BN_BENCH_WHOLE : BN_BENCH_CLOCK, out, trouble, sizeof trouble));
    if (!trouble[0]) {
        *s->measured = true;
        return BN_OK;
    }
    bn_log(s->d->wish->ctx, BN_LOG_WARNING, "%s, %s, %u: %s", job->of->solver, job->of->what, job->n, trouble);
    snprintf(s->why, BN_SUITE_WHY, "%.*s", BN_SUITE_WHY - 1, trouble);
    *s->failed = true;
    out->seconds = out->updates = (double)NAN;
    return BN_OK;
}

bn_status bn_suite_seconds(const bn_suite *s, const bn_bench_job *job, double *seconds)
{
    bn_bench_result r;
    const bn_status st = bn_suite_measure(s, job, false, &r);
    *seconds = r.seconds;
    return st;
}

/* The next line that is no comment, split; a field in quotes may hold commas. */
static bool next_fields(bn_published *t, char fields[BN_PUBLISHED_FIELDS][BN_PUBLISHED_FIELD])
{
    while (*t->at == '#')
        t->at += strcspn(t->at, "\n") + (strchr(t->at, '\n') != NULL);
    if (!*t->at)
        return false;
    memset(fields, 0, BN_PUBLISHED_FIELDS * sizeof *fields);
    size_t f = 0, n = 0;
    bool quoted = false;
    for (; *t->at && *t->at != '\n'; t->at++) {
        if (*t->at == '"')
            quoted = !quoted;
        else if (*t->at == ',' && !quoted && f + 1 < BN_PUBLISHED_FIELDS)
            f++, n = 0;
        else if (n + 1 < BN_PUBLISHED_FIELD)
            fields[f][n++] = *t->at;
    }
    t->at += *t->at == '\n';
    return true;
}

bn_published bn_published_open(const char *name)
{
    const char *text = bn_suite_file(name);
    bn_published t = { .at = text ? text : "" };
    (void)next_fields(&t, t.heads); /* a table that is not there is empty */
    return t;
}

bool bn_published_next(bn_published *t) { return next_fields(t, t->fields); }

const char *bn_published_text(const bn_published *t, const char *head)
{
    for (size_t i = 0; i < BN_PUBLISHED_FIELDS; i++)
        if (strcmp(t->heads[i], head) == 0)
            return t->fields[i];
    return "";
}

double bn_published_number(const bn_published *t, const char *head)
{
    char *end;
    const double value = strtod(bn_published_text(t, head), &end);
    return end == bn_published_text(t, head) ? (double)NAN : value;
}

double bn_published_seconds(const bn_published *t, const char *head)
{
    char *end;
    const double value = strtod(bn_published_text(t, head), &end);
    return strcmp(end, "ms") == 0    ? 1e-3 * value
           : strcmp(end, "s") == 0   ? value
           : strcmp(end, "min") == 0 ? 60 * value
                                     : (double)NAN;
}

double bn_published_item(const char *name, const char *item)
{
    bn_published t = bn_published_open(name);
    while (bn_published_next(&t))
        if (strcmp(bn_published_text(&t, "item"), item) == 0)
            return bn_published_number(&t, "value");
    return (double)NAN;
}

bn_bench_case bn_suite_base(const char *solver)
{
    const bn_bench_case *c = bn_bench_cases;
    while (strcmp(c->solver, solver) != 0)
        c++;
    return *c;
}
