/* bpm_cross_section.c: the cross-section of a beam in space on the host, a few rows at a time: the field that enters,
 * what is observed, and the fields of files. Never more of it than those rows is in the host's memory. */
#include "api/parallel_rows.h"
#include "bpm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Multiplies (or divides) row j of psi by the scale of both axes. */
static void rescale(const bpm *s, uint32_t j, double *values, bool divide)
{
    double _Complex *psi = (double _Complex *)(void *)values;
    for (size_t i = 0; s->c.pml && i < s->c.n; i++) {
        const double _Complex by = s->axis[0].scale[i] * s->axis[1].scale[j];
        psi[i] = divide ? psi[i] / by : psi[i] * by;
    }
}

double bpm_start_row(const bpm *s, uint32_t j, double *row)
{
    double power = 0;
    const double k = bpm_k0(s, 0) * s->c.background;
    for (size_t i = 0; i < s->c.n; i++) {
        const double x = (double)(i + 1) * s->axis[0].h - s->space.spot[0],
                     y = (double)(j + 1) * s->c.h - s->space.spot[1];
        const bool plane = s->launch.kind == BPM_LAUNCH_PLANE;
        const double size = plane ? 1 : exp(-(x * x + y * y) / (s->space.spot_waist * s->space.spot_waist));
        const double phase = s->launch.kind == BPM_LAUNCH_MODE ? 0 : -k * sin(s->launch.tilt) * y;
        const double re = size < 1e-30 ? 0 : size * cos(phase), im = size < 1e-30 ? 0 : size * sin(phase);
        power += re * re + im * im;
        if (row) {
            row[2 * i] = re;
            row[2 * i + 1] = im;
        }
    }
    return power;
}

/* --- the field that enters --- */

/* Rows of several fields that processors share out. */
typedef struct band {
    const bpm *s;
    uint32_t first;
    double *const *values;
    bool make; /* the start is computed; else it is read */
} band;

/* A node is as much work as `work_a_node` values (bn_parallel_rows). */
static bn_status share_rows(band *b, uint32_t first, uint32_t count, double *const *values, size_t work_a_node,
                            void (*work)(void *user, size_t begin, size_t end))
{
    b->first = first;
    b->values = values;
    bn_parallel_rows(count, work_a_node * b->s->c.n, work, b);
    return BN_OK;
}

static void launch_some(void *user, size_t begin, size_t end)
{
    const band *b = user;
    const size_t row = 2 * (size_t)b->s->c.n;
    for (size_t j = begin; j < end; j++) {
        double *start = b->values[0] + j * row, *psi = b->values[1] + j * row;
        if (b->make)
            bpm_start_row(b->s, b->first + (uint32_t)j, start);
        memcpy(psi, start, row * sizeof *psi);
        rescale(b->s, b->first + (uint32_t)j, psi, true);
    }
}

static bn_status launch_rows(void *user, uint32_t first, uint32_t count, double *const *values)
{
    return share_rows(user, first, count, values, 2, launch_some);
}

bn_status bpm_launch_space(bpm *s, bool make)
{
    band l = { .s = s, .make = make };
    const bn_row_band rows[] = { { s->space.start, !make, make }, { s->psi, false, true } };
    return bn_field_row_bands(rows, 2, false, launch_rows, &l);
}

/* --- what is observed --- */

/* Shares of the nodes beside it in a value at `place`, which lies `node` spacings from the wall. */
static double beside(double place, double node, double h) { return fmax(0, 1 - fabs(place / h - node)); }

/* The intensity at the launch's centre, from the nodes around it. */
static bn_status read_peak(const bpm *s, double *peak)
{
    bn_region r = { .n = { 1, 1, 1 } };
    double at[2], psi[8];
    for (int d = 0; d < 2; d++) {
        const bpm_axis *a = &s->axis[d];
        at[d] = fmin(fmax(s->space.spot[d], a->h), a->width - a->h); /* between the outermost nodes */
        r.first[d] = (uint32_t)fmin(fmax(floor(at[d] / a->h) - 1, 0), (double)a->n - 1);
        r.n[d] = r.first[d] + 1 < a->n ? 2 : 1;
    }
    BN_TRY(bn_field_read_region(s->psi, 0, 1, &r, BN_AS_DOUBLES, psi));
    *peak = 0;
    for (uint32_t j = 0, k = 0; j < r.n[1]; j++)
        for (uint32_t i = 0; i < r.n[0]; i++, k++) {
            const uint32_t node[2] = { r.first[0] + i, r.first[1] + j };
            double _Complex value = CMPLX(psi[2 * k], psi[2 * k + 1]);
            if (s->c.pml)
                value *= s->axis[0].scale[node[0]] * s->axis[1].scale[node[1]];
            *peak += creal(value * conj(value)) * beside(at[0], node[0] + 1, s->axis[0].h) *
                     beside(at[1], node[1] + 1, s->axis[1].h);
        }
    return BN_OK;
}

/* Adds rows up in order. */
static void observe_rows(const bpm *s, double middle, double (*sums)[BPM_ROW_SUMS], bpm_record *out, double *map)
{
    const double own = s->beam[0].start_power, h = s->axis[0].h;
    double power = 0, x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    double _Complex overlap = 0;
    for (uint32_t j = 0; j < s->c.rows; j++) {
        const double _Complex scale = s->c.pml ? s->axis[1].scale[j] : 1;
        const double more = creal(scale * conj(scale)), row = more * sums[j][0], y = (double)(j + 1) * s->c.h;
        power += row;
        x1 += more * sums[j][1];
        x2 += more * sums[j][2];
        y1 += row * y;
        y2 += row * y * y;
        overlap += scale * CMPLX(sums[j][3], sums[j][4]);
        for (size_t k = 0; k < s->history.ports; k++)
            out->port[k] += row / own * bpm_port_overlap(&s->history, k, y, s->c.h) / s->c.h;
        if (map)
            map[j] = row / (double)s->c.n;
    }
    const double from_middle = x1 / power, size = creal(overlap * conj(overlap));
    out->power = power / own;
    out->centre_x = (middle + 1 + from_middle) * h;
    out->centre = y1 / power;
    out->width_x = 2 * h * sqrt(fmax(0, x2 / power - from_middle * from_middle));
    out->width = 2 * sqrt(fmax(0, y2 / power - out->centre * out->centre));
    out->start = size / (own * own);
    if (isfinite(s->beam[0].n_eff)) { /* a launched mode is the start */
        out->mode = size / (s->beam[0].mode_power * own);
        out->phase = remainder(carg(overlap) - fmod((double)s->done * s->beam[0].phase, 2 * BPM_PI), 2 * BPM_PI);
    }
}

bn_status bpm_observe_space(bpm *s, bpm_record *out, double *map)
{
    /* The node beside the launch's centre: less is rounded away of moments about it. */
    const int middle = (int)fmin(fmax(round(s->space.spot[0] / s->axis[0].h) - 1, 0), (double)s->c.n - 1);
    double(*sums)[BPM_ROW_SUMS] = malloc(s->c.rows * sizeof *sums);
    if (!sums)
        return bn_fail(bn_domain_context(bn_field_domain(s->psi)), BN_MEMORY, "no memory for sums of %u rows",
                       s->c.rows);
    *out = (bpm_record){
        .z = (double)s->done * s->c.dz, .mirror = (double)NAN, .mode = (double)NAN, .phase = (double)NAN
    };
    bn_status st = s->space.sum_rows(s, middle, sums);
    if (st == BN_OK)
        st = read_peak(s, &out->peak);
    if (st == BN_OK)
        observe_rows(s, middle, sums, out, map);
    free(sums);
    return st;
}

/* --- fields of files --- */

static void output_some(void *user, size_t begin, size_t end)
{
    const band *b = user;
    const bpm *s = b->s;
    const size_t nx = s->c.n;
    const double z = fmin((double)s->done + 0.5, (double)s->c.steps - 0.5) * s->c.dz;
    for (size_t j = begin; j < end; j++) {
        double *psi = b->values[0] + 2 * j * nx, *intensity = b->values[1] + j * nx, *index = b->values[2] + j * nx,
               *envelope = b->values[3] + 2 * j * nx;
        double _Complex *index2 = (double _Complex *)(void *)envelope; /* until psi is there */
        bpm_index_row(s, z, (double)(b->first + j + 1) * s->c.h, 0, nx, index2);
        for (size_t i = 0; i < nx; i++)
            index[i] = creal(csqrt(index2[i]));
        rescale(s, b->first + (uint32_t)j, psi, false);
        memcpy(envelope, psi, 2 * nx * sizeof *psi);
        for (size_t i = 0; i < nx; i++)
            intensity[i] = psi[2 * i] * psi[2 * i] + psi[2 * i + 1] * psi[2 * i + 1];
    }
}

static bn_status output_rows(void *user, uint32_t first, uint32_t count, double *const *values)
{
    return share_rows(user, first, count, values, 6, output_some);
}

bn_status bpm_update_space(bpm *s)
{
    const bn_row_band rows[] = { { s->psi, true, false },
                                 { s->space.intensity, false, true },
                                 { s->space.index, false, true },
                                 { s->work, false, true } };
    return bn_field_row_bands(rows, 4, false, output_rows, &(band){ .s = s });
}

/* --- while the mode is sought; the field is not scaled then --- */

/* What a row adds to Rayleigh's quotient, and the largest of |psi|^2 in it. */
typedef struct quotient {
    double sum, size, largest;
} quotient;

/* A row's share needs the rows on both sides: it is found when the one behind it has come. */
typedef struct quotient_rows {
    const bpm *s;
    double *last, *last_but_one; /* rows before the band; zero beyond the walls */
    const double *values;        /* the rows of the band */
    uint32_t first;
    quotient *row;
} quotient_rows;

static const double *row_at(const quotient_rows *q, long j)
{
    return j >= (long)q->first       ? q->values + 2 * (size_t)(j - (long)q->first) * q->s->c.n
           : j + 1 == (long)q->first ? q->last
                                     : q->last_but_one;
}

static void add_nodes(const quotient_rows *q, long j, size_t from, size_t count, const double _Complex *index2)
{
    const bpm *s = q->s;
    const double *south = row_at(q, j - 1), *row = row_at(q, j), *north = row_at(q, j + 1);
    const double k0 = bpm_k0(s, 0), cx = 1 / (s->axis[0].h * s->axis[0].h * k0 * k0),
                 cy = 1 / (s->c.h * s->c.h * k0 * k0);
    quotient *out = &q->row[j];
    for (size_t i = from; i < from + count; i++) {
        double square = 0;
        for (size_t part = 0; part < 2; part++) {
            const size_t at = 2 * i + part;
            const double here = row[at], west = i > 0 ? row[at - 2] : 0, east = i + 1 < s->c.n ? row[at + 2] : 0;
            out->sum += here * (cx * ((east - here) - (here - west)) + cy * ((north[at] - here) - (here - south[at])) +
                                creal(index2[i - from]) * here);
            square += here * here;
        }
        out->size += square;
        out->largest = square > out->largest ? square : out->largest;
    }
}

/* Those of the rows from the one before the band to the last but one in it. */
static void add_rows(void *user, size_t begin, size_t end)
{
    enum { SOME = 256 };
    const quotient_rows *q = user;
    const bpm *s = q->s;
    double _Complex index2[SOME];
    for (size_t k = begin; k < end; k++) {
        const long j = (long)q->first - 1 + (long)k;
        for (size_t from = 0; j >= 0 && from < s->c.n; from += SOME) {
            const size_t some = s->c.n - from < SOME ? s->c.n - from : SOME;
            bpm_index_row(s, 0.5 * s->c.dz, (double)(j + 1) * s->c.h, from, some, index2);
            add_nodes(q, j, from, some, index2);
        }
    }
}

static bn_status add_band(void *user, uint32_t first, uint32_t count, double *const *values)
{
    quotient_rows *q = user;
    const size_t row = 2 * (size_t)q->s->c.n;
    const long end = (long)first + (long)count;
    q->first = first;
    q->values = values[0];
    bn_parallel_rows(count, 4 * row, add_rows, q);
    memcpy(q->last_but_one, row_at(q, end - 2), row * sizeof *q->last);
    memcpy(q->last, row_at(q, end - 1), row * sizeof *q->last);
    return BN_OK;
}

bn_status bpm_rayleigh(bn_sim *sim, bpm *s, double *index, double *power)
{
    const size_t row = 2 * (size_t)s->c.n;
    double *rows = calloc(3 * row, sizeof *rows);
    quotient_rows q = { .s = s, .last_but_one = rows, .last = rows ? rows + row : NULL };
    q.row = calloc(s->c.rows, sizeof *q.row);
    if (!rows || !q.row) {
        free(rows);
        free(q.row);
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for sums over %u rows", s->c.rows);
    }
    const bn_status st = bn_field_row_bands(&(const bn_row_band){ s->psi, true, false }, 1, true, add_band, &q);
    if (st == BN_OK) { /* the last row, behind which is the wall */
        double *wall[] = { rows + 2 * row };
        (void)add_band(&q, s->c.rows, 1, wall);
    }
    quotient all = { 0 };
    for (uint32_t j = 0; j < s->c.rows; j++) {
        all.sum += q.row[j].sum;
        all.size += q.row[j].size;
        all.largest = q.row[j].largest > all.largest ? q.row[j].largest : all.largest;
    }
    free(rows);
    free(q.row);
    s->space.largest = sqrt(all.largest);
    *index = sqrt(fmax(all.sum, 0) / all.size);
    *power = all.size / all.largest;
    return st;
}

static void normalize_some(void *user, size_t begin, size_t end)
{
    const band *b = user;
    const size_t row = 2 * (size_t)b->s->c.n;
    for (size_t at = begin * row; at < end * row; at++)
        b->values[0][at] = b->values[1][at] = b->values[0][at] / b->s->space.largest;
}

static bn_status normalize_rows(void *user, uint32_t first, uint32_t count, double *const *values)
{
    return share_rows(user, first, count, values, 2, normalize_some);
}

bn_status bpm_normalize(bpm *s)
{
    const bn_row_band rows[] = { { s->psi, true, true }, { s->space.start, false, true } };
    return bn_field_row_bands(rows, 2, false, normalize_rows, &(band){ .s = s });
}
