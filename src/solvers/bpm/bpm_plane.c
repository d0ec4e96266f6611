/* bpm_plane.c: beams in a plane, each a row of the grid: the field that enters and the mode it is compared with, steps
 * by elimination, and what is observed. */
#include "api/parallel_rows.h"
#include "bpm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the field that enters --- */

static void gaussian(const bpm *s, size_t beam, double *field)
{
    const bpm_launch *l = &s->launch;
    const double k = bpm_k0(s, beam) * s->c.background, middle = l->centre + s->beam[beam].offset;
    for (size_t i = 0; i < s->c.n; i++) {
        const double y = (double)(i + 1) * s->c.h - middle;
        const double size = l->kind == BPM_LAUNCH_PLANE ? 1 : exp(-y * y / (l->waist * l->waist));
        /* exp(-i k sin(tilt) y) runs towards +y. */
        field[2 * i] = size < 1e-30 ? 0 : size * cos(k * sin(l->tilt) * y);
        field[2 * i + 1] = size < 1e-30 ? 0 : -size * sin(k * sin(l->tilt) * y);
    }
}

/* From a table of y, real and imaginary part, linear between its rows. A node within half a cell beyond an end has the
 * value of that end, whose y may have been rounded to the other side of it; further out the field is 0. */
static void from_file(const bpm *s, double *field)
{
    const bn_input *t = s->launch.file;
    for (size_t i = 0; i < s->c.n; i++) {
        const double node = (double)(i + 1) * s->c.h;
        const double first = t->values[0], last = t->values[(t->rows - 1) * t->columns];
        const double y = fmin(fmax(node, first), last);
        size_t k = 0;
        while (k + 2 < t->rows && t->values[(k + 1) * t->columns] < y)
            k++;
        const double *low = t->values + k * t->columns, *high = low + t->columns;
        const bool within = fabs(node - y) < 0.5 * s->c.h;
        const double share = within ? (y - low[0]) / (high[0] - low[0]) : 0;
        for (size_t part = 0; part < 2; part++) {
            const size_t from = part + 1;
            field[2 * i + part] = within && from < t->columns ? low[from] + share * (high[from] - low[from]) : 0;
        }
    }
}

/* The index beside the guides at the start: a mode below it would leak away. */
static double outside(const bpm *s) { return bpm_guides(&s->profile, 0.5 * s->c.dz) ? s->c.background : 0; }

static bn_status find_modes(const bn_case *c, bpm *s, double *values)
{
    for (size_t beam = 0; beam < s->c.beams; beam++) {
        double n_eff = 0;
        bpm_make_operator(s, beam, 0.5 * s->c.dz, &s->axis[0].op);
        const bool found = bpm_find_mode(s, beam, &s->axis[0].op, s->launch.mode, &n_eff, values) &&
                           n_eff > outside(s) * (1 + 1e-12);
        if (!found && s->launch.kind == BPM_LAUNCH_MODE)
            return bn_case_reject(
                c, "launch.mode", "modes count from 0, the fundamental",
                "the guide at z = 0 has no mode %d: its index would be %.6f, not above the %.6f around it",
                s->launch.mode, n_eff, outside(s));
        s->beam[beam].n_eff = found ? n_eff : (double)NAN;
        for (size_t i = 0; i < s->c.n; i++)
            s->plane.mode_field[2 * (beam * s->c.n + i)] = found ? values[i] : 0;
    }
    return BN_OK;
}

static double norm2(const double *field, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < 2 * n; i++)
        sum += field[i] * field[i];
    return sum;
}

static bn_status make_start(const bn_case *c, bpm *s)
{
    const size_t n = s->c.n;
    const bool found_reference = s->c.reference == 0;
    double *values = malloc(n * sizeof *values);
    if (!values)
        return bn_case_reject(c, "grid.cells", NULL, "no memory for %zu unknowns", n);
    if (found_reference)
        s->c.reference = s->c.background;
    const bool with_pml = s->c.pml;
    s->c.pml = false; /* modes belong to the guide, not to the layers before the walls */
    const bn_status st = find_modes(c, s, values);
    s->c.pml = with_pml;
    free(values);
    BN_TRY(st);
    if (found_reference && bpm_guides(&s->profile, 0.5 * s->c.dz) && isfinite(s->beam[0].n_eff))
        s->c.reference = s->beam[0].n_eff;
    for (size_t beam = 0; beam < s->c.beams; beam++) {
        double *start = s->plane.start_field + 2 * beam * n, *mode = s->plane.mode_field + 2 * beam * n;
        bpm_beam *b = &s->beam[beam];
        double _Complex *root = s->axis[0].op.index2;
        if (s->launch.kind == BPM_LAUNCH_MODE)
            memcpy(start, mode, 2 * n * sizeof *start);
        else if (s->launch.kind == BPM_LAUNCH_FILE)
            from_file(s, start);
        else
            gaussian(s, beam, start);
        if (s->c.tm)
            bpm_impedance_root(s, beam, 0.5 * s->c.dz, root);
        for (size_t i = 0; s->c.tm && i < n; i++) {
            ((double _Complex *)(void *)start)[i] /= root[i];
            ((double _Complex *)(void *)mode)[i] /= root[i];
        }
        b->start_power = norm2(start, n);
        b->mode_power = norm2(mode, n);
        if (!(b->start_power > 0))
            return bn_case_reject(c, "launch.centre", NULL, "the field that enters vanishes on the whole grid");
        b->phase = isfinite(b->n_eff) ? bpm_step_phase(s, beam, b->n_eff) : (double)NAN;
    }
    return BN_OK;
}

/* --- the plan --- */

/* Points whose matrices the host holds: 24 bytes each. */
enum { SECTION_POINTS = 1 << 20 };

/* Where a guide changes there is a section for each step: the matrices of so many are made side by side, and brought to
 * the device in one piece. In TM the field is rescaled between two sections. */
static size_t sections_at_once(const bpm *s)
{
    const size_t points = (size_t)s->c.n * s->c.rows, fit = SECTION_POINTS / points;
    return s->c.solver == BPM_FFT || s->c.tm || !bpm_varies(&s->profile) || fit < 1 ? 1
           : fit < BPM_SECTIONS                                                     ? fit
                                                                                    : BPM_SECTIONS;
}

static bn_status plan(const bn_case *c, bn_plan *p, bpm *s)
{
    bpm_plane *m = &s->plane;
    const size_t points = (size_t)s->c.n * s->c.rows;
    BN_TRY(bpm_allocate_operator(p, &s->axis[0]));
    BN_TRY(bpm_allocate_pairs(p, points, &s->axis[0].scale));
    double **pairs[] = { &m->mode_field, &m->start_field, &m->field };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        BN_TRY(bpm_allocate(p, 2 * points, pairs[i]));
    m->most_sections = sections_at_once(s);
    BN_TRY(bpm_allocate(p, 2 * points * m->most_sections, &m->r));
    BN_TRY(bpm_allocate(p, 2 * points * m->most_sections, &m->v));
    void *memory;
    BN_TRY(bn_plan_allocate(p, m->most_sections * s->c.beams * sizeof *m->reach, &memory));
    m->reach = memory;
    return make_start(c, s);
}

static bn_status plan_fields(bn_plan *p, bpm *s)
{
    /* x of the grid is y of the beams; its y counts beams. */
    BN_TRY(bn_plan_grid(p, &(bn_grid){ .dims = 2,
                                       .n = { s->c.n, s->c.beams, 1 },
                                       .h = { s->c.h, s->c.h, 1 },
                                       .origin = { s->c.h },
                                       .nodes = true }));
    BN_TRY(bpm_plan_psi(p, s));
    if (s->c.solver == BPM_FFT)
        return bpm_plan_fft_fields(p, s);
    bn_plan_scales(p, &(bn_plan_scaling){ .rate = 45e9, .along = 1 }); /* beams know nothing of each other */
    bn_plan_whole_rows(p);
    const int sections = (int)s->plane.most_sections;
    BN_TRY(bn_plan_field(p, &s->axis[0].r_field, &(bn_field_desc){ "r", "", BN_T_REAL2, sections, 0 }));
    BN_TRY(bn_plan_field(p, &s->axis[0].v_field,
                         &(bn_field_desc){ "v", "", s->c.lossy ? BN_T_REAL2 : BN_T_REAL, sections, 0 }));
    BN_TRY(bpm_plan_constants(p, s));
    return bn_plan_choice(p, "steps along z by", "elimination");
}

/* --- sections --- */

static bool same_matrix(const bpm_beam *a, const bpm_beam *b)
{
    return a->wavelength == b->wavelength && a->index == b->index;
}

/* What rows are multiplied by, of all beams: in TE it is the same everywhere. */
static void scale_beams(bpm *s)
{
    double _Complex *scale = s->axis[0].scale;
    bpm_make_operator(s, 0, 0, &s->axis[0].op);
    bpm_scale(&s->axis[0].op, scale);
    for (size_t beam = 1; beam < s->c.beams; beam++)
        memcpy(scale + beam * s->c.n, scale, s->c.n * sizeof *scale);
    s->plane.scaled = true;
}

/* In TM, where the scale follows the index, no two at a time. */
static void scale_tm(bpm *s, size_t beam, double z)
{
    const bpm_operator *op = &s->axis[0].op;
    double _Complex *scale = s->axis[0].scale + beam * s->c.n;
    bpm_make_operator(s, beam, z, op);
    bpm_scale(op, scale);
}

static void rescale_tm(bpm *s, size_t beam, double z)
{
    double _Complex *scale = s->axis[0].scale + beam * s->c.n, *root = s->axis[0].op.index2;
    bpm_impedance_root(s, beam, z, root);
    for (size_t i = 0; i < s->c.n; i++)
        scale[i] /= root[i];
}

static void make_matrix(bpm *s, size_t section, size_t beam)
{
    const size_t n = s->c.n, row = section * s->c.beams + beam;
    const bpm_axis *a = &s->axis[0];
    const double k0 = bpm_k0(s, beam), h2 = s->c.h * s->c.h, k = k0 * s->c.reference;
    const double z = ((double)s->plane.section[section].begin + 0.5) * s->c.dz;
    double *r = s->plane.r + 2 * row * n, *v = s->plane.v + (s->c.lossy ? 2 : 1) * row * n;
    double _Complex p, q, *own = (double _Complex *)(void *)r; /* n^2 and what follows from it lie where r will */
    bpm_step_weights(s, beam, &p, &q);
    if (s->c.tm) {
        scale_tm(s, beam, z);
        memcpy(own, a->op.index2, n * sizeof *own);
    } else {
        bpm_index(s, beam, z, s->c.h, n, false, own);
    }
    for (size_t i = 0; i < n; i++)
        own[i] = h2 * k0 * k0 * (own[i] - s->c.reference * s->c.reference);
    bpm_eliminate(&a->op, 1, h2 * k * k / p, s->c.lossy, r, v);
    s->plane.reach[row] = bpm_reach(s, a, r);
    if (s->c.tm)
        rescale_tm(s, beam, z);
}

static bool is_same_as_before(const bpm *s, size_t beam)
{
    return beam > 0 && same_matrix(&s->beam[beam], &s->beam[beam - 1]);
}

static void make_some(void *user, size_t begin, size_t end)
{
    bpm *s = user;
    for (size_t row = begin; row < end; row++)
        if (!is_same_as_before(s, row % s->c.beams))
            make_matrix(s, row / s->c.beams, row % s->c.beams);
}

static void copy_same(bpm *s, size_t section)
{
    const size_t n = s->c.n, v_size = s->c.lossy ? 2 : 1;
    for (size_t beam = 1; beam < s->c.beams; beam++) {
        const size_t row = section * s->c.beams + beam;
        if (!is_same_as_before(s, beam))
            continue;
        memcpy(s->plane.r + 2 * row * n, s->plane.r + 2 * (row - 1) * n, 2 * n * sizeof(double));
        memcpy(s->plane.v + v_size * row * n, s->plane.v + v_size * (row - 1) * n, v_size * n * sizeof(double));
        if (s->c.tm)
            memcpy(s->axis[0].scale + beam * n, s->axis[0].scale + (beam - 1) * n, n * sizeof(double _Complex));
        s->plane.reach[row] = s->plane.reach[row - 1];
    }
}

static size_t section_of(const bpm_plane *m, size_t k)
{
    size_t at = 0;
    while (at < m->sections && (k < m->section[at].begin || k >= m->section[at].end))
        at++;
    return at;
}

/* The sections from the one of step k on; backwards, as gradients are found, those up to it. */
static void make_sections(bpm *s, size_t k)
{
    bpm_plane *m = &s->plane;
    const size_t most = m->most_sections;
    const bool backwards = m->sections > 0 && k < m->section[0].begin;
    size_t at = !backwards ? k : k + 1 > most ? k + 1 - most : 0;
    m->sections = 0;
    do {
        const size_t end = at + bpm_constant_steps(s, at);
        m->section[m->sections++] = (bpm_section){ .begin = at, .end = end };
        at = end;
    } while (m->sections < most && at < s->c.steps);
    if (!s->c.tm && !m->scaled)
        scale_beams(s);
    const size_t rows = m->sections * s->c.beams;
    if (s->c.tm)
        make_some(s, 0, rows);
    else
        bn_parallel_rows(rows, (size_t)BPM_VALUES_A_NODE * s->c.n, make_some, s);
    for (size_t i = 0; i < m->sections; i++) {
        m->section[i].reach = 1;
        copy_same(s, i);
        for (size_t beam = 0; beam < s->c.beams; beam++) {
            const int reach = m->reach[i * s->c.beams + beam];
            m->section[i].reach = reach > m->section[i].reach ? reach : m->section[i].reach;
        }
    }
    m->stored = false;
}

void bpm_plane_prepare(bpm *s, size_t k)
{
    bpm_plane *m = &s->plane;
    if (section_of(m, k) == m->sections)
        make_sections(s, k);
    m->now = section_of(m, k);
    s->section_end = m->section[m->now].end;
    s->axis[0].reach = m->section[m->now].reach;
}

/* Between psi in memory and the amplitudes of the power, in s->plane.field. */
static bn_status fetch(bpm *s)
{
    const size_t points = (size_t)s->c.n * s->c.rows;
    double _Complex *psi = (double _Complex *)(void *)s->plane.field;
    BN_TRY(bn_field_get(s->psi, s->plane.field, 2 * points));
    for (size_t at = 0; (s->c.tm || s->c.pml) && at < points; at++)
        psi[at] *= s->axis[0].scale[at];
    return BN_OK;
}

static bn_status put(bpm *s)
{
    const size_t points = (size_t)s->c.n * s->c.rows;
    double _Complex *psi = (double _Complex *)(void *)s->plane.field;
    for (size_t at = 0; (s->c.tm || s->c.pml) && at < points; at++)
        psi[at] /= s->axis[0].scale[at];
    return bn_field_set(s->psi, s->plane.field, 2 * points);
}

/* In TM the next section has another scaling, and psi with it: the amplitude of the power is continuous, so H has a
 * step where the index has one. */
bn_status bpm_plane_section(bn_sim *sim, bpm *s, bool entered)
{
    const bool rescaled = s->c.tm && entered && s->section_begin > 0;
    if (rescaled)
        BN_TRY(fetch(s));
    bpm_plane_prepare(s, s->section_begin);
    if (rescaled)
        BN_TRY(put(s));
    if (s->plane.stored)
        return BN_OK;
    const bn_region whole = bn_domain_whole(bn_sim_domain(sim));
    const int count = (int)s->plane.sections;
    BN_TRY(bn_field_write_region(s->axis[0].r_field, 0, count, &whole, BN_AS_DOUBLES, s->plane.r));
    BN_TRY(bn_field_write_region(s->axis[0].v_field, 0, count, &whole, BN_AS_DOUBLES, s->plane.v));
    s->plane.stored = true;
    return BN_OK;
}

/* --- what is observed --- */

static bn_status launch(bpm *s)
{
    memcpy(s->plane.field, s->plane.start_field, 2 * (size_t)s->c.n * s->c.rows * sizeof *s->plane.field);
    return put(s);
}

/* sum conj(a) b; mirrored: a's mirror image. */
static double _Complex inner(const double *a, const double *b, size_t n, bool mirrored)
{
    double re = 0, im = 0;
    for (size_t i = 0; i < n; i++) {
        const double *p = a + 2 * (mirrored ? n - 1 - i : i), *q = b + 2 * i;
        re += p[0] * q[0] + p[1] * q[1];
        im += p[0] * q[1] - p[1] * q[0];
    }
    return CMPLX(re, im);
}

static double share(double _Complex overlap, double one, double other)
{
    return one > 0 ? (creal(overlap) * creal(overlap) + cimag(overlap) * cimag(overlap)) / (one * other) : (double)NAN;
}

static double intensity(const double *psi, size_t i)
{
    return psi[2 * i] * psi[2 * i] + psi[2 * i + 1] * psi[2 * i + 1];
}

static void observe_beam(const bpm *s, size_t beam, bpm_record *out)
{
    const size_t n = s->c.n;
    const bpm_beam *b = &s->beam[beam];
    const double *psi = s->plane.field + 2 * beam * n, *start = s->plane.start_field + 2 * beam * n;
    const double own = b->start_power, h = s->c.h, place = (s->launch.centre + b->offset) / h - 1;
    double power = 0, first = 0, second = 0;
    *out = (bpm_record){ .z = (double)s->done * s->c.dz };
    for (size_t i = 0; i < n; i++) {
        const double here = intensity(psi, i), y = (double)(i + 1) * h;
        power += here;
        first += here * y;
        for (size_t k = 0; k < s->history.ports; k++)
            out->port[k] += here / own * bpm_port_overlap(&s->history, k, y, h) / h;
    }
    out->centre = first / power;
    for (size_t i = 0; i < n; i++) {
        const double away = (double)(i + 1) * h - out->centre;
        second += intensity(psi, i) * away * away;
    }
    out->width = 2 * sqrt(second / power);
    out->power = power / own;
    out->start = share(inner(start, psi, n, false), own, own);
    out->mirror = share(inner(start, psi, n, true), own, own);
    const double _Complex overlap = inner(s->plane.mode_field + 2 * beam * n, psi, n, false);
    out->mode = share(overlap, b->mode_power, own);
    const double expected = fmod((double)s->done * b->phase, 2 * BPM_PI);
    out->phase = remainder(carg(overlap) - expected, 2 * BPM_PI);
    const double low = floor(fmin(fmax(place, 0), (double)n - 1)), part = fmin(fmax(place - low, 0), 1);
    const size_t at = (size_t)low, next = at + 1 < n ? at + 1 : at;
    out->peak = intensity(psi, at) + part * (intensity(psi, next) - intensity(psi, at));
}

bool bpm_result_slopes(const bpm *s, const char *result, double *slopes)
{
    const size_t n = s->c.n;
    const double *psi = s->plane.field, *form = s->plane.start_field, own = s->beam[0].start_power;
    const bool mode = strcmp(result, "overlap_mode") == 0, mirror = strcmp(result, "overlap_mirror") == 0;
    size_t port = 0;
    if (mode && !(s->beam[0].mode_power > 0))
        return false;
    if (mode || mirror || strcmp(result, "overlap_start") == 0) { /* |c|^2 / (a b), c = sum conj(form) psi */
        form = mode ? s->plane.mode_field : form;
        const double _Complex overlap = inner(form, psi, n, mirror);
        const double twice = 2 / (mode ? s->beam[0].mode_power * own : own * own);
        for (size_t i = 0; i < n; i++) {
            const double *p = form + 2 * (mirror ? n - 1 - i : i);
            slopes[2 * i] = twice * (creal(overlap) * p[0] - cimag(overlap) * p[1]);
            slopes[2 * i + 1] = twice * (creal(overlap) * p[1] + cimag(overlap) * p[0]);
        }
        return true;
    }
    while (port < s->history.ports && strcmp(result, bpm_port_names[port]) != 0)
        port++;
    if (port == s->history.ports && strcmp(result, "power") != 0)
        return false;
    for (size_t i = 0; i < 2 * n; i++) {
        const double y = (double)(i / 2 + 1) * s->c.h;
        const double share = port < s->history.ports ? bpm_port_overlap(&s->history, port, y, s->c.h) / s->c.h : 1;
        slopes[i] = 2 * share / own * psi[i];
    }
    return true;
}

static bn_status observe(bpm *s, bpm_record *out, double *map)
{
    BN_TRY(fetch(s));
    for (size_t i = 0; map && i < s->c.n; i++)
        map[i] = intensity(s->plane.field, i);
    observe_beam(s, 0, out);
    return BN_OK;
}

/* The field itself, E or H, into `envelope`. */
static bn_status update_outputs(bpm *s)
{
    const double z = ((double)s->section_begin + 0.5) * s->c.dz;
    double _Complex *root = s->axis[0].op.index2;
    BN_TRY(fetch(s));
    for (size_t beam = 0; s->c.tm && beam < s->c.beams; beam++) {
        double _Complex *field = (double _Complex *)(void *)(s->plane.field + 2 * beam * s->c.n);
        bpm_impedance_root(s, beam, z, root);
        for (size_t i = 0; i < s->c.n; i++)
            field[i] *= root[i];
    }
    return bn_field_set(s->work, s->plane.field, 2 * (size_t)s->c.n * s->c.rows);
}

/* The table of all beams at the end. */
static bn_status results(bpm *s, const bpm_record *first, bn_results *out)
{
    enum { COUNT = 11 };
    static const char *const names[COUNT] = { "beam",          "wavelength",    "offset",       "index",
                                              "power",         "overlap_start", "overlap_mode", "n_eff",
                                              "marched_index", "centre",        "beam_width" };
    static const char *const units[COUNT] = { "", "m", "m", "", "", "", "", "", "", "m", "m" };
    bn_column columns[COUNT + BPM_PORTS];
    const size_t rows = s->c.beams, count = COUNT + s->history.ports;
    double *values = rows > 1 ? calloc(count * rows, sizeof *values) : NULL;
    (void)first;
    if (!values) /* one beam; or no memory, and the results stand without the table */
        return BN_OK;
    for (size_t beam = 0; beam < rows; beam++) {
        const bpm_beam *b = &s->beam[beam];
        bpm_record end;
        observe_beam(s, beam, &end);
        const double row[COUNT] = { (double)beam, b->wavelength, b->offset,
                                    b->index,     end.power,     end.start,
                                    end.mode,     b->n_eff,      bpm_found_beta(s, beam, end.phase) / bpm_k0(s, beam),
                                    end.centre,   end.width };
        for (size_t i = 0; i < count; i++)
            values[i * rows + beam] = i < COUNT ? row[i] : end.port[i - COUNT];
    }
    for (size_t i = 0; i < count; i++)
        columns[i] = (bn_column){ i < COUNT ? names[i] : bpm_port_names[i - COUNT], i < COUNT ? units[i] : "",
                                  values + i * rows };
    const bn_status st = bn_result_table(out, "beams", columns, count, rows);
    free(values);
    return st;
}

static void row_index(const bpm *s, double z, uint32_t j, double _Complex *out)
{
    bpm_index(s, j, z, s->c.h, s->c.n, false, out);
}

static void outline(const bpm *s, double z, double _Complex *row, double *out)
{
    row_index(s, z, 0, row);
    for (size_t i = 0; i < s->c.n; i++)
        out[i] = creal(csqrt(row[i]));
}

const bpm_geometry bpm_plane_geometry = { .plan = plan,
                                          .plan_fields = plan_fields,
                                          .launch = launch,
                                          .observe = observe,
                                          .results = results,
                                          .update_outputs = update_outputs,
                                          .row_index = row_index,
                                          .outline = outline,
                                          .map_quantity = "|E|²" };

/* --- steps on a device --- */

static bn_status setup(bn_sim *sim, bpm *s)
{
    s->axis[0].kernel = bn_sim_kernel(sim, "bpm_crank_nicolson");
    return bn_device_array_reals(bn_sim_domain(sim), "factors", s->factor, 2 * s->c.beams, &s->plane.factors);
}

static void teardown(bpm *s) { bn_device_array_destroy(&s->plane.factors); }

static bn_status propagate(bpm *s, const bpm_steps *steps)
{
    const bpm_axis *a = &s->axis[0];
    size_t most;
    BN_TRY(bpm_launch_steps(a, 1, steps->count, &most));
    for (size_t left = steps->count, now; left > 0; left -= now) {
        now = left < most ? left : most;
        bn_kernel_repeats(a->kernel, (double)now);
        BN_TRY(BN_RUN(a->kernel, BN_UPDATE(s->psi), BN_READ(a->r_field, 0), BN_READ(a->v_field, 0), BN_UPDATE(s->work),
                      BN_ARRAY(s->plane.factors), BN_I32V((int32_t)s->plane.now), BN_I32V(a->reach),
                      BN_I32V((int32_t)now)));
    }
    return BN_OK;
}

const bpm_method bpm_plane_method = { .setup = setup,
                                      .teardown = teardown,
                                      .prepare = bpm_plane_prepare,
                                      .section = bpm_plane_section,
                                      .propagate = propagate };
