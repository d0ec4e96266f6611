/* xray_runs.c: fields of a run as numbers, and comparisons of two runs (xray_runs.h). */
#include "xray_runs.h"

#include "sim/plan.h"
#include "sim/sim_parts.h"

#include <stdlib.h>
#include <string.h>

static size_t bytes_of(const bn_sim_field_info *info)
{
    return (size_t)info->n[0] * info->n[1] * info->n[2] * (size_t)info->components * info->element_bytes;
}

void detector_direction(const int n[2], double cell_angle, bool equal_angles, double i, double j, double u[3])
{
    const double a = (i - n[0] / 2) * cell_angle, b = (j - n[1] / 2) * cell_angle;
    const double ty = equal_angles ? tan(a) : a, tz = equal_angles ? tan(b) : b, norm = sqrt(1 + ty * ty + tz * tz);
    u[0] = 1 / norm;
    u[1] = ty / norm;
    u[2] = tz / norm;
}

void beam_direction(const double tilt[2], double u[3])
{
    const double ty = tan(tilt[0]), tz = tan(tilt[1]), norm = sqrt(1 + ty * ty + tz * tz);
    u[0] = 1 / norm;
    u[1] = ty / norm;
    u[2] = tz / norm;
}

double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

double total(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

void same_bits(run *a, run *b, const char *name)
{
    const size_t bytes = bytes_of(field_info(a, name));
    unsigned char *x = malloc(bytes), *y = malloc(bytes);
    ck_assert(x && y && bytes_of(field_info(b, name)) == bytes);
    OK(bn_sim_read(a->sim, name, x, bytes));
    OK(bn_sim_read(b->sim, name, y, bytes));
    ck_assert_msg(memcmp(x, y, bytes) == 0, "%s differs", name);
    free(x);
    free(y);
}

void same_law(const double *x, const double *y, size_t cells, const char *what)
{
    double chi = 0;
    size_t count = 0;
    for (size_t c = 0; c < cells; c++)
        if (x[c] + y[c] > 20) {
            chi += pow(x[c] - y[c], 2) / (x[c] + y[c]);
            count++;
        }
    ck_assert_msg(count > 100 && fabs(chi - (double)count) < 3.7 * sqrt(2.0 * (double)count),
                  "%s: chi^2 = %g for %zu cells", what, chi, count);
}

double note(const run *r, const char *name)
{
    const bn_plan *p = bn_sim_plan(r->sim);
    for (size_t i = 0; i < p->note_count; i++)
        if (strcmp(p->notes[i].name, name) == 0)
            return p->notes[i].value;
    ck_abort_msg("no note %s", name);
    return 0;
}
