/* bpm_measure.c: what is looked at after every step of the simulation and told at the end. */
#include "bpm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static const char *const port_names[BPM_PORTS] = { "port_1", "port_2", "port_3", "port_4",
                                                   "port_5", "port_6", "port_7", "port_8" };

bn_status bpm_plan_results(const bpm *s, bn_plan *p)
{
    static const struct {
        const char *name, *unit, *help;
    } all[] = {
        { "power", "", "at the end, over that of the start" },
        { "power_drift", "", "power minus one" },
        { "overlap_start", "", "share of the power that has the form of the start" },
        { "overlap_mirror", "", "share that has the form of the start's mirror image about the middle" },
        { "overlap_mode", "", "share that is in the mode of launch.mode" },
        { "n_eff", "", "effective index of that mode, by its eigenvalue on this grid" },
        { "marched_index", "",
          "index by the phase of that mode along z, as these steps march it: (n_eff^2 + n_ref^2) / (2 "
          "n_ref) in paraxial steps, near n_eff with wide_angle" },
        { "beta", "m-1", "phase constant of marched_index" },
        { "beta_error", "m-1", "beta minus that of the scheme's closed form" },
        { "phase_error", "", "beta_error times the length [rad]" },
        { "peak", "", "intensity at the launch's centre" },
        { "centre", "m", "mean place of the intensity" },
        { "beam_width", "m", "twice the rms width of the intensity: w of a Gaussian exp(-y^2 / w^2)" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        BN_TRY(bn_plan_result(p, all[i].name, all[i].unit, all[i].help));
    BN_TRY(bn_plan_chart(p, &(bn_plan_chart_desc){ .table = "powers",
                                                   .title = "Shares of the power",
                                                   .x_scale = 1e6,
                                                   .x_label = "z [µm]",
                                                   .y_label = "over the power at the start" }));
    for (size_t i = 0; i < s->ports; i++)
        BN_TRY(bn_plan_result(p, port_names[i], "", "power between the port's borders"));
    if (s->space) {
        BN_TRY(bn_plan_result(p, "centre_x", "m", "mean place of the intensity along x"));
        BN_TRY(bn_plan_result(p, "beam_width_x", "m", "twice its rms width along x"));
    }
    return BN_OK;
}

/* Times (or, `divide`, over) what the amplitudes in memory are divided by to make the matrices symmetric. */
static void rescale(const bpm *s, bool divide)
{
    double _Complex *psi = (double _Complex *)(void *)s->field;
    const double _Complex *scale = (const double _Complex *)(const void *)s->s;
    for (size_t at = 0; (s->tm || s->pml) && at < (size_t)s->n * s->rows; at++)
        psi[at] = divide ? psi[at] / scale[at] : psi[at] * scale[at];
}

bn_status bpm_fetch(bpm *s)
{
    BN_TRY(bn_field_get(s->psi, s->field, 2 * (size_t)s->n * s->rows));
    rescale(s, false);
    return BN_OK;
}

bn_status bpm_put(bpm *s)
{
    rescale(s, true);
    return bn_field_set(s->psi, s->field, 2 * (size_t)s->n * s->rows);
}

bn_status bpm_show(bpm *s)
{
    BN_TRY(bpm_fetch(s));
    for (size_t beam = 0; s->tm && beam < s->beams; beam++) {
        double _Complex *field = (double _Complex *)(void *)(s->field + 2 * beam * s->n);
        bpm_impedance_root(s, beam, ((double)s->section_begin + 0.5) * s->dz, s->op.index2);
        for (size_t i = 0; i < s->n; i++)
            field[i] *= s->op.index2[i];
    }
    return bn_field_set(s->work, s->field, 2 * (size_t)s->n * s->rows);
}

bn_status bpm_begin(bn_sim *sim, bpm *s)
{
    if (s->space && s->method != BPM_FFT)
        bpm_make_space_section(s, 0);
    s->section_end = 0;
    if (s->space) {
        BN_TRY(bpm_launch_space(s, true));
    } else {
        memcpy(s->field, s->start_field, 2 * (size_t)s->n * s->rows * sizeof *s->field);
        BN_TRY(bpm_put(s));
    }
    return s->relaxing ? BN_OK : bpm_keep_record(sim, s);
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

void bpm_look(const bpm *s, size_t beam, bpm_state *out)
{
    const size_t n = s->n;
    const double *psi = s->field + 2 * beam * n, *start = s->start_field + 2 * beam * n;
    const double own = s->start_power[beam], place = (s->centre + s->beam[beam][1]) / s->h - 1;
    double power = 0, first = 0, second = 0;
    *out = (bpm_state){ .z = (double)s->done * s->dz };
    for (size_t i = 0; i < n; i++) {
        const double here = psi[2 * i] * psi[2 * i] + psi[2 * i + 1] * psi[2 * i + 1], y = (double)(i + 1) * s->h;
        power += here;
        first += here * y;
        for (size_t k = 0; k < s->ports; k++)
            out->port[k] += here / own *
                            fmax(0, fmin(s->port_to[k], y + 0.5 * s->h) - fmax(s->port_from[k], y - 0.5 * s->h)) / s->h;
    }
    out->centre = first / power;
    for (size_t i = 0; i < n; i++) {
        const double away = (double)(i + 1) * s->h - out->centre;
        second += (psi[2 * i] * psi[2 * i] + psi[2 * i + 1] * psi[2 * i + 1]) * away * away;
    }
    out->width = 2 * sqrt(second / power);
    out->power = power / own;
    out->start = share(inner(start, psi, n, false), own, own);
    out->mirror = share(inner(start, psi, n, true), own, own);
    const double _Complex overlap = inner(s->mode_field + 2 * beam * n, psi, n, false);
    out->mode = share(overlap, s->mode_power[beam], own);
    const double expected = fmod((double)s->done * s->theory[beam], 2 * pi);
    out->phase = remainder(carg(overlap) - expected, 2 * pi);
    const double low = floor(fmin(fmax(place, 0), (double)n - 1)), part = fmin(fmax(place - low, 0), 1);
    const size_t at = (size_t)low, next = at + 1 < n ? at + 1 : at;
    const double a = psi[2 * at] * psi[2 * at] + psi[2 * at + 1] * psi[2 * at + 1];
    const double b = psi[2 * next] * psi[2 * next] + psi[2 * next + 1] * psi[2 * next + 1];
    out->peak = a + part * (b - a);
}

bn_status bpm_keep_record(bn_sim *sim, bpm *s)
{
    (void)sim;
    const bool room = s->records < s->room;
    double *map = s->map && room ? s->map + s->records * s->map_n : NULL;
    if (!s->space)
        BN_TRY(bpm_fetch(s));
    if (!room)
        return BN_OK;
    bpm_state *record = &s->record[s->records++];
    if (s->space)
        return bpm_look_space(s, record, map);
    for (size_t i = 0; map && i < s->map_n; i++)
        map[i] = s->field[2 * i] * s->field[2 * i] + s->field[2 * i + 1] * s->field[2 * i + 1];
    bpm_look(s, 0, record);
    return BN_OK;
}

/* A column of a table: a member of the records, by its place in bpm_state. */
typedef struct member {
    const char *name, *unit;
    size_t offset;
} member;

static bn_status put_members(const bpm *s, bn_results *results, const char *table, const member *members, size_t count)
{
    bn_column columns[BPM_PORTS + 8];
    double *values = calloc(count * s->records, sizeof *values);
    if (!values)
        return BN_OK; /* the results stand without it */
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < s->records; k++)
            memcpy(&values[i * s->records + k], (const char *)&s->record[k] + members[i].offset, sizeof *values);
        columns[i] = (bn_column){ members[i].name, members[i].unit, values + i * s->records };
    }
    const bn_status st = bn_result_table(results, table, columns, count, s->records);
    free(values);
    return st;
}

static bn_status put_series(const bpm *s, bn_results *results)
{
    static const member places[] = {
        { "z", "m", offsetof(bpm_state, z) },
        { "phase_error", "", offsetof(bpm_state, phase) },
        { "peak", "", offsetof(bpm_state, peak) },
        { "centre", "m", offsetof(bpm_state, centre) },
        { "beam_width", "m", offsetof(bpm_state, width) },
    };
    /* Only what differs: a launched mode is its own start, a symmetric one its own mirror image. */
    member powers[5 + BPM_PORTS] = { { "z", "m", offsetof(bpm_state, z) },
                                     { "power", "", offsetof(bpm_state, power) } };
    size_t count = 2;
    if (s->launch != BPM_LAUNCH_MODE && !s->space)
        powers[count++] = (member){ "overlap_start", "", offsetof(bpm_state, start) };
    if (!s->space && fabs(s->record[0].mirror - 1) > 1e-9)
        powers[count++] = (member){ "overlap_mirror", "", offsetof(bpm_state, mirror) };
    if (isfinite(s->n_eff[0]))
        powers[count++] = (member){ "overlap_mode", "", offsetof(bpm_state, mode) };
    for (size_t i = 0; i < s->ports; i++)
        powers[count++] = (member){ port_names[i], "", offsetof(bpm_state, port) + i * sizeof(double) };
    BN_TRY(put_members(s, results, "powers", powers, count));
    return put_members(s, results, "along_z", places, sizeof places / sizeof *places);
}

/* The intensity in y and z, with the guides' outlines. */
static bn_status put_map(const bpm *s, bn_results *results)
{
    /* Records lie evenly, but for the last, which the end of the structure may cut short. */
    size_t columns = s->records;
    if (columns > 2 && s->record[columns - 1].z - s->record[columns - 2].z < 0.999 * s->record[1].z)
        columns--;
    if (!s->map || columns < 2)
        return BN_OK;
    double *values = calloc(2 * columns * s->map_n, sizeof *values), *lines = values + columns * s->map_n;
    double _Complex *index2 = calloc(s->map_n > s->n ? s->map_n : s->n, sizeof *index2);
    const bool straight = bpm_constant_steps(s, 0) >= s->steps;
    double level = s->background;
    for (size_t k = 0; values && index2 && k < columns; k++) {
        const double z = fmin(s->record[k].z + 0.5 * s->dz, s->length - 0.5 * s->dz);
        if (!s->space)
            bpm_index(s, 0, z, s->h, s->n, false, index2);
        for (size_t i = 0; i < s->map_n; i++) {
            double *line = &lines[i * columns + k];
            values[i * columns + k] = s->map[k * s->map_n + i];
            *line = s->space ? line[-(ptrdiff_t)k] : creal(csqrt(index2[i]));
            if (s->space && (k == 0 || !straight)) { /* seen along x: the highest */
                bpm_index_row(s, z, (double)(i + 1) * s->h, 0, s->n, index2);
                *line = 0;
                for (size_t x = 0; x < s->n; x++)
                    *line = fmax(*line, creal(csqrt(index2[x])));
            }
            level = fmax(level, *line);
        }
    }
    level = 0.5 * (level + s->background);
    const bn_map map = { .name = "intensity",
                         .title = "intensity along z",
                         .quantity = s->tm      ? "|H n_ref / n|²"
                                     : s->space ? "mean of |E|² along x"
                                                : "|E|²",
                         .shape = 2.2,
                         .unit = "",
                         .axes = { "z", "y" },
                         .n = { (uint32_t)columns, s->map_n },
                         .origin = { 0, s->h },
                         .h = { s->record[1].z, s->h },
                         .values = values,
                         .lines = level > s->background ? lines : NULL,
                         .levels = &level,
                         .level_count = 1 };
    const bn_status st = values && index2 ? bn_result_map(results, &map) : BN_OK;
    free(values);
    free(index2);
    return st;
}

/* Effective index from theory's phase per step and what was found beyond it. */
static double found_beta(const bpm *s, size_t beam, double phase)
{
    if (bpm_constant_steps(s, 0) < s->steps)
        return (double)NAN; /* the mode is not the same all along */
    const double along = (double)s->done * s->theory[beam] + phase;
    return bpm_k0(s, beam) * s->reference - along / ((double)s->done * s->dz);
}

static bn_status put_beams(const bpm *s, bn_results *results)
{
    enum { COUNT = 11 };
    static const char *const names[COUNT] = { "beam",          "wavelength",    "offset",       "index",
                                              "power",         "overlap_start", "overlap_mode", "n_eff",
                                              "marched_index", "centre",        "beam_width" };
    static const char *const units[COUNT] = { "", "m", "m", "", "", "", "", "", "", "m", "m" };
    bn_column columns[COUNT + BPM_PORTS];
    const size_t rows = s->beams, count = COUNT + s->ports;
    double *values = calloc(count * rows, sizeof *values);
    if (!values)
        return BN_OK;
    for (size_t beam = 0; beam < rows; beam++) {
        bpm_state end;
        bpm_look(s, beam, &end);
        const double row[COUNT] = {
            (double)beam,     s->beam[beam][0], s->beam[beam][1],
            s->beam[beam][2], end.power,        end.start,
            end.mode,         s->n_eff[beam],   found_beta(s, beam, end.phase) / bpm_k0(s, beam),
            end.centre,       end.width
        };
        for (size_t i = 0; i < count; i++)
            values[i * rows + beam] = i < COUNT ? row[i] : end.port[i - COUNT];
    }
    for (size_t i = 0; i < count; i++)
        columns[i] = (bn_column){ i < COUNT ? names[i] : port_names[i - COUNT], i < COUNT ? units[i] : "",
                                  values + i * rows };
    const bn_status st = bn_result_table(results, "beams", columns, count, rows);
    free(values);
    return st;
}

bn_status bpm_measure(bn_sim *sim, void *state, bn_results *results)
{
    bpm *s = state;
    bpm_state end;
    (void)sim;
    if (s->space) {
        BN_TRY(bpm_look_space(s, &end, NULL));
    } else {
        BN_TRY(bpm_fetch(s));
        bpm_look(s, 0, &end);
    }
    const double beta = found_beta(s, 0, end.phase), length = (double)s->done * s->dz;
    BN_TRY(bn_result(results, "power", end.power));
    BN_TRY(bn_result(results, "power_drift", end.power - 1));
    BN_TRY(bn_result(results, "overlap_start", end.start));
    BN_TRY(bn_result(results, "overlap_mirror", end.mirror));
    BN_TRY(bn_result(results, "overlap_mode", end.mode));
    BN_TRY(bn_result(results, "n_eff", s->relaxing ? s->relax_index : s->n_eff[0]));
    BN_TRY(bn_result(results, "marched_index", beta / bpm_k0(s, 0)));
    BN_TRY(bn_result(results, "beta", beta));
    BN_TRY(bn_result(results, "beta_error", isfinite(beta) ? -end.phase / length : beta));
    BN_TRY(bn_result(results, "phase_error", isfinite(beta) ? -end.phase : beta));
    BN_TRY(bn_result(results, "peak", end.peak));
    BN_TRY(bn_result(results, "centre", end.centre));
    BN_TRY(bn_result(results, "beam_width", end.width));
    for (size_t i = 0; i < s->ports; i++)
        BN_TRY(bn_result(results, port_names[i], end.port[i]));
    if (s->beams > 1)
        BN_TRY(put_beams(s, results));
    BN_TRY(put_map(s, results));
    if (s->space) {
        BN_TRY(bn_result(results, "centre_x", end.centre_x));
        BN_TRY(bn_result(results, "beam_width_x", end.width_x));
    }
    return s->records > 0 ? put_series(s, results) : BN_OK;
}
