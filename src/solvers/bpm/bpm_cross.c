/* bpm_cross.c: the cross-section of a beam in space as the host sees it, some rows at a time: what is launched, looked
 * at, and shown. No more of it than that is in the host's memory. */
#include "bpm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times (or, `divide`, over) what the field is divided by to make the matrices symmetric. */
static void rescale(const bpm *s, uint32_t first, uint32_t count, double *values, bool divide)
{
    double _Complex *psi = (double _Complex *)(void *)values;
    for (uint32_t j = first; s->pml && j < first + count; j++)
        for (size_t i = 0; i < s->n; i++, psi++) {
            const double _Complex by = s->axis[0].scale[i] * s->axis[1].scale[j];
            *psi = divide ? *psi / by : *psi * by;
        }
}

void bpm_start_row(const bpm *s, uint32_t j, double *row)
{
    const double k = bpm_k0(s, 0) * s->background;
    for (size_t i = 0; i < s->n; i++) {
        const double x = (double)(i + 1) * s->axis[0].h - s->spot[0], y = (double)(j + 1) * s->h - s->spot[1];
        const bool plane = s->launch == BPM_LAUNCH_PLANE;
        const double size = plane ? 1 : exp(-(x * x + y * y) / (s->spot_waist * s->spot_waist));
        const double turn = s->launch == BPM_LAUNCH_MODE ? 0 : -k * sin(s->tilt) * y;
        row[2 * i] = size < 1e-30 ? 0 : size * cos(turn);
        row[2 * i + 1] = size < 1e-30 ? 0 : size * sin(turn);
    }
}

/* --- what is launched --- */

typedef struct launching {
    const bpm *s;
    bool make; /* the start is made; else it is there */
} launching;

static bn_status launch_rows(void *user, uint32_t first, uint32_t count, double *const *values)
{
    const launching *l = user;
    const size_t row = 2 * (size_t)l->s->n;
    for (uint32_t j = 0; l->make && j < count; j++)
        bpm_start_row(l->s, first + j, values[0] + j * row);
    memcpy(values[1], values[0], count * row * sizeof *values[1]);
    rescale(l->s, first, count, values[1], true);
    return BN_OK;
}

bn_status bpm_launch_space(bpm *s, bool make)
{
    launching l = { s, make };
    const bn_row_band rows[] = { { s->start, !make, make }, { s->psi, false, true } };
    return bn_field_row_bands(rows, 2, false, launch_rows, &l);
}

/* --- what is looked at --- */

typedef struct looking {
    const bpm *s;
    bpm_state *out;
    double *map;
    double x1, x2, y1, y2;
    double at[2];  /* the launch's centre, between the outermost nodes */
    double re, im; /* sum conj(start) psi */
} looking;

static bn_status look_rows(void *user, uint32_t first, uint32_t count, double *const *values)
{
    looking *l = user;
    const bpm *s = l->s;
    const size_t nx = s->n;
    const double own = s->start_power[0];
    bpm_state *out = l->out;
    rescale(s, first, count, values[0], false);
    for (uint32_t j = first; j < first + count; j++) {
        double mean = 0;
        for (size_t i = 0; i < nx; i++) {
            const double *at = values[0] + 2 * ((j - first) * nx + i), *start = values[1] + 2 * ((j - first) * nx + i);
            const double here = at[0] * at[0] + at[1] * at[1];
            const double x = (double)(i + 1) * s->axis[0].h, y = (double)(j + 1) * s->h;
            out->power += here;
            l->x1 += here * x;
            l->x2 += here * x * x;
            l->y1 += here * y;
            l->y2 += here * y * y;
            out->peak += here * fmax(0, 1 - fabs(x - l->at[0]) / s->axis[0].h) * fmax(0, 1 - fabs(y - l->at[1]) / s->h);
            for (size_t k = 0; k < s->ports; k++)
                out->port[k] += here / own *
                                fmax(0, fmin(s->port_to[k], y + 0.5 * s->h) - fmax(s->port_from[k], y - 0.5 * s->h)) /
                                s->h;
            l->re += start[0] * at[0] + start[1] * at[1];
            l->im += start[0] * at[1] - start[1] * at[0];
            mean += at[0] * at[0];
            mean += at[1] * at[1];
        }
        if (l->map)
            l->map[j] = mean / (double)nx;
    }
    return BN_OK;
}

bn_status bpm_look_space(bpm *s, bpm_state *out, double *map)
{
    const double own = s->start_power[0], pi = 3.14159265358979323846;
    looking l = { .s = s, .out = out, .map = map };
    for (int d = 0; d < 2; d++)
        l.at[d] = fmin(fmax(s->spot[d], s->axis[d].h), s->axis[d].width - s->axis[d].h);
    *out = (bpm_state){
        .z = (double)s->done * s->dz, .mirror = (double)NAN, .mode = (double)NAN, .phase = (double)NAN
    };
    const bn_row_band rows[] = { { s->psi, true, false }, { s->start, true, false } };
    BN_TRY(bn_field_row_bands(rows, 2, true, look_rows, &l));
    const double power = out->power, overlap = l.re * l.re + l.im * l.im;
    out->power = power / own;
    out->centre_x = l.x1 / power;
    out->centre = l.y1 / power;
    out->width_x = 2 * sqrt(fmax(0, l.x2 / power - out->centre_x * out->centre_x));
    out->width = 2 * sqrt(fmax(0, l.y2 / power - out->centre * out->centre));
    out->start = overlap / (own * own);
    if (isfinite(s->n_eff[0])) { /* a launched mode is the start */
        out->mode = overlap / (s->mode_power[0] * own);
        out->phase = remainder(atan2(l.im, l.re) - fmod((double)s->done * s->theory[0], 2 * pi), 2 * pi);
    }
    return BN_OK;
}

/* --- what is shown --- */

static bn_status show_rows(void *user, uint32_t first, uint32_t count, double *const *values)
{
    const bpm *s = user;
    const size_t nx = s->n;
    double _Complex *index2 = s->axis[0].op.index2;
    const double z = fmin((double)s->done + 0.5, (double)s->steps - 0.5) * s->dz;
    rescale(s, first, count, values[0], false);
    memcpy(values[3], values[0], 2 * count * nx * sizeof *values[3]);
    for (size_t at = 0; at < count * nx; at++)
        values[1][at] = values[0][2 * at] * values[0][2 * at] + values[0][2 * at + 1] * values[0][2 * at + 1];
    for (uint32_t j = 0; j < count; j++) {
        bpm_index_row(s, z, (double)(first + j + 1) * s->h, 0, nx, index2);
        for (size_t i = 0; i < nx; i++)
            values[2][j * nx + i] = creal(csqrt(index2[i]));
    }
    return BN_OK;
}

bn_status bpm_update_outputs(bn_sim *sim, void *state)
{
    bpm *s = state;
    (void)sim;
    if (!s->space)
        return bpm_show(s);
    const bn_row_band rows[] = {
        { s->psi, true, false }, { s->intensity, false, true }, { s->index, false, true }, { s->work, false, true }
    };
    return bn_field_row_bands(rows, 4, false, show_rows, s);
}

/* --- while the mode is sought; the field is not scaled then --- */

static bn_status largest_rows(void *user, uint32_t first, uint32_t count, double *const *values)
{
    bpm *s = user;
    (void)first;
    for (size_t at = 0; at < (size_t)count * s->n; at++)
        s->largest = fmax(s->largest, hypot(values[0][2 * at], values[0][2 * at + 1]));
    return BN_OK;
}

bn_status bpm_find_largest(bn_sim *sim, bpm *s)
{
    s->largest = 0;
    BN_TRY(bn_field_row_bands(&(const bn_row_band){ s->psi, true, false }, 1, false, largest_rows, s));
    bn_context_agree(bn_sim_context(sim), &s->largest, 1); /* it has seen its own boxes */
    return BN_OK;
}

static bn_status norm_rows(void *user, uint32_t first, uint32_t count, double *const *values)
{
    const bpm *s = user;
    (void)first;
    for (size_t at = 0; at < 2 * (size_t)count * s->n; at++)
        values[0][at] = values[1][at] = values[0][at] / s->largest;
    return BN_OK;
}

bn_status bpm_normalize(bpm *s)
{
    const bn_row_band rows[] = { { s->psi, true, true }, { s->start, false, true } };
    return bn_field_row_bands(rows, 2, false, norm_rows, s);
}

/* A row's share of the quotient needs the rows on both sides: rows are added up when the one behind them has come. */
typedef struct quotient {
    const bpm *s;
    double *south, *here, *north; /* rows, zero beyond the walls */
    double sum, size;
} quotient;

static void add_row(quotient *q, uint32_t j)
{
    const bpm *s = q->s;
    const size_t nx = s->n;
    const double k0 = bpm_k0(s, 0), cx = 1 / (s->axis[0].h * s->axis[0].h * k0 * k0);
    const double cy = 1 / (s->h * s->h * k0 * k0);
    double _Complex *index2 = s->axis[0].op.index2;
    bpm_index_row(s, 0.5 * s->dz, (double)(j + 1) * s->h, 0, nx, index2);
    for (size_t i = 0; i < nx; i++)
        for (size_t part = 0; part < 2; part++) {
            const size_t at = 2 * i + part;
            const double here = q->here[at], west = i > 0 ? q->here[at - 2] : 0,
                         east = i + 1 < nx ? q->here[at + 2] : 0;
            q->sum += here * (cx * ((east - here) - (here - west)) +
                              cy * ((q->north[at] - here) - (here - q->south[at])) + creal(index2[i]) * here);
            q->size += here * here;
        }
}

static void next_row(quotient *q)
{
    double *free_one = q->south;
    q->south = q->here;
    q->here = q->north;
    q->north = free_one;
}

static bn_status quotient_rows(void *user, uint32_t first, uint32_t count, double *const *values)
{
    quotient *q = user;
    const size_t row = 2 * (size_t)q->s->n;
    for (uint32_t j = 0; j < count; j++) {
        for (size_t i = 0; i < row; i++)
            q->north[i] = values[0][j * row + i] / q->s->largest;
        if (first + j > 0)
            add_row(q, first + j - 1);
        next_row(q);
    }
    return BN_OK;
}

bn_status bpm_rayleigh(bn_sim *sim, bpm *s, double *index, double *power)
{
    const size_t row = 2 * (size_t)s->n;
    double *rows = calloc(3 * row, sizeof *rows);
    quotient q = { .s = s, .south = rows, .here = rows + row, .north = rows + 2 * row };
    if (!rows)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for three rows of the field");
    const bn_status st = bn_field_row_bands(&(const bn_row_band){ s->psi, true, false }, 1, true, quotient_rows, &q);
    memset(q.north, 0, row * sizeof *q.north); /* the wall */
    add_row(&q, s->rows - 1);
    free(rows);
    *index = sqrt(fmax(q.sum, 0) / q.size);
    *power = q.size;
    return st;
}
