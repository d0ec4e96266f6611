/* support_case.c: cases run by the tests of solvers. */
#include "support_case.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bn_context *ctx;

static bn_device *opened;

void open_context(void) { ck_assert_int_eq(bn_context_create(NULL, &ctx), BN_OK); }
void close_context(void)
{
    bn_device_close(&opened);
    bn_context_destroy(&ctx);
}

bn_device *opened_device(void)
{
    if (!opened)
        OK(bn_device_open(ctx, NULL, false, &opened));
    return opened;
}

char test_folder[96];

void open_folder(void)
{
    const char *base = getenv("TMPDIR");
    open_context();
    snprintf(test_folder, sizeof test_folder, "%s/binnacle-test-XXXXXX", base ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(test_folder));
}

void close_folder(void)
{
    char command[4200];
    DIR *d = opendir(test_folder);
    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        ck_assert_msg(strncmp(e->d_name, ".binnacle-", 10) != 0, "%s was left", e->d_name);
    closedir(d);
    snprintf(command, sizeof command, "rm -rf '%s'", test_folder);
    ck_assert_int_eq(system(command), 0);
    close_context();
}

const char *in_folder(const char *name)
{
    static char paths[4][4400];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", test_folder, name);
    return path;
}

const char *text_file(const char *name, const char *text)
{
    const char *path = in_folder(name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert(fputs(text, f) >= 0 && fclose(f) == 0);
    return path;
}

static bn_status parse(const char *text, const char *const *overrides, bn_case **out)
{
    size_t count = 0;
    while (overrides[count])
        count++;
    return bn_case_parse(ctx, "test.toml", text, overrides, count, out);
}

run run_boxes(const char *text, bn_device *device, int boxes, const char *const *overrides)
{
    run r;
    OK(parse(text, overrides, &r.config));
    OK(bn_sim_create(ctx, r.config, &(bn_sim_desc){ .device = device, .boxes = boxes }, &r.sim));
    while (!bn_sim_done(r.sim))
        OK(bn_sim_step(r.sim));
    OK(bn_sim_measure(r.sim));
    return r;
}

run run_case(const char *text, bn_device *device, const char *const *overrides)
{
    return run_boxes(text, device, 1, overrides);
}

void end_run(run *r)
{
    bn_sim_destroy(&r->sim);
    bn_case_destroy(&r->config);
}

double difference(const run *a, const run *b, const char *name)
{
    size_t count;
    double *x = field(a, name, &count), *y = field(b, name, NULL), worst = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        ck_assert(isfinite(x[i]) && isfinite(y[i]));
        worst = fmax(worst, fabs(x[i] - y[i]));
        most = fmax(most, fabs(y[i]));
    }
    free(x);
    free(y);
    return worst / most;
}

void same_fields(const run *a, const run *b, const char *const *names, int fields, const char *what)
{
    for (int f = 0; f < fields; f++) {
        size_t count, others;
        double *one = field(a, names[f], &count), *other = field(b, names[f], &others);
        ck_assert_uint_eq(count, others);
        ck_assert_msg(memcmp(one, other, count * sizeof *one) == 0, "%s: %s differs", what, names[f]);
        free(one);
        free(other);
    }
}

double result(const run *r, const char *name)
{
    const bn_results *results = bn_sim_results(r->sim);
    for (size_t i = 0; i < bn_results_count(results); i++)
        if (strcmp(bn_results_at(results, i)->name, name) == 0)
            return bn_results_at(results, i)->value;
    ck_abort_msg("no result %s", name);
    return 0;
}

const bn_column *table(const run *r, const char *name, size_t *count, size_t *rows)
{
    const bn_results *results = bn_sim_results(r->sim);
    const bn_column *columns = NULL;
    size_t at = 0, own;
    while (at < bn_results_tables(results) &&
           strcmp(bn_results_table_at(results, at, &columns, count ? count : &own, rows), name) != 0)
        at++;
    ck_assert_msg(at < bn_results_tables(results), "there is no table %s", name);
    return columns;
}

const bn_sim_field_info *field_info(const run *r, const char *name)
{
    for (size_t i = 0; i < bn_sim_field_count(r->sim); i++)
        if (strcmp(bn_sim_field_at(r->sim, i)->name, name) == 0)
            return bn_sim_field_at(r->sim, i);
    ck_abort_msg("no field %s", name);
    return NULL;
}

double *field(const run *r, const char *name, size_t *count)
{
    const bn_sim_field_info *info = field_info(r, name);
    const size_t values_count = (size_t)info->n[0] * info->n[1] * info->n[2] * (size_t)info->components;
    void *raw = malloc(values_count * info->element_bytes);
    double *values = malloc(values_count * sizeof *values);
    ck_assert(raw && values && info->real);
    OK(bn_sim_read(r->sim, name, raw, values_count * info->element_bytes));
    for (size_t i = 0; i < values_count; i++)
        values[i] = info->element_bytes == 8 ? ((double *)raw)[i] : (double)((float *)raw)[i];
    free(raw);
    if (count)
        *count = values_count;
    return values;
}

void rejected_run(const char *text, bn_status expected, const char *why, const char *const *overrides)
{
    run r = { 0 };
    bn_status st = parse(text, overrides, &r.config);
    if (st == BN_OK)
        st = bn_sim_create(ctx, r.config, &(bn_sim_desc){ 0 }, &r.sim);
    while (st == BN_OK && !bn_sim_done(r.sim))
        st = bn_sim_step(r.sim);
    ck_assert_msg(st == expected, "status %d instead of %d for: %s", (int)st, (int)expected, why);
    ck_assert_msg(strstr(bn_error_text(ctx), why) != NULL, "%s\nlacks: %s", bn_error_text(ctx), why);
    bn_error_clear(ctx);
    end_run(&r);
}
