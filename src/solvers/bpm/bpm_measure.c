/* bpm_measure.c: records after every step of the simulation, and the results at the end. */
#include "bpm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const bpm_port_names[BPM_PORTS] = { "port_1", "port_2", "port_3", "port_4",
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
          "index by the phase of that mode along z as these steps propagate it: (n_eff^2 + n_ref^2) / (2 "
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
    for (size_t i = 0; i < s->history.ports; i++)
        BN_TRY(bn_plan_result(p, bpm_port_names[i], "", "power between the port's borders"));
    return s->geometry->plan_results ? s->geometry->plan_results(p) : BN_OK;
}

double bpm_port_overlap(const bpm_history *m, size_t port, double y, double h)
{
    return fmax(0, fmin(m->port_to[port], y + 0.5 * h) - fmax(m->port_from[port], y - 0.5 * h));
}

bn_status bpm_add_record(bpm *s)
{
    bpm_history *m = &s->history;
    if (m->records == m->capacity)
        return BN_OK;
    double *map = m->map ? m->map + m->records * m->map_n : NULL;
    return s->geometry->observe(s, &m->record[m->records++], map);
}

/* A column of a table: a member of the records, by its place in bpm_record. */
typedef struct member {
    const char *name, *unit;
    size_t offset;
} member;

static bn_status put_members(const bpm *s, bn_results *results, const char *table, const member *members, size_t count)
{
    bn_column columns[BPM_PORTS + 8];
    double *values = calloc(count * s->history.records, sizeof *values);
    if (!values)
        return BN_OK; /* the results stand without it */
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < s->history.records; k++)
            memcpy(&values[i * s->history.records + k], (const char *)&s->history.record[k] + members[i].offset,
                   sizeof *values);
        columns[i] = (bn_column){ members[i].name, members[i].unit, values + i * s->history.records };
    }
    const bn_status st = bn_result_table(results, table, columns, count, s->history.records);
    free(values);
    return st;
}

static bn_status put_series(const bpm *s, bn_results *results)
{
    static const member places[] = {
        { "z", "m", offsetof(bpm_record, z) },
        { "phase_error", "", offsetof(bpm_record, phase) },
        { "peak", "", offsetof(bpm_record, peak) },
        { "centre", "m", offsetof(bpm_record, centre) },
        { "beam_width", "m", offsetof(bpm_record, width) },
    };
    /* Only what differs: a launched mode is its own start, a symmetric one its own mirror image. */
    member powers[5 + BPM_PORTS] = { { "z", "m", offsetof(bpm_record, z) },
                                     { "power", "", offsetof(bpm_record, power) } };
    size_t count = 2;
    if (s->launch.kind != BPM_LAUNCH_MODE && s->c.axes == 1)
        powers[count++] = (member){ "overlap_start", "", offsetof(bpm_record, start) };
    if (fabs(s->history.record[0].mirror - 1) > 1e-9)
        powers[count++] = (member){ "overlap_mirror", "", offsetof(bpm_record, mirror) };
    if (isfinite(s->beam[0].n_eff))
        powers[count++] = (member){ "overlap_mode", "", offsetof(bpm_record, mode) };
    for (size_t i = 0; i < s->history.ports; i++)
        powers[count++] = (member){ bpm_port_names[i], "", offsetof(bpm_record, port) + i * sizeof(double) };
    BN_TRY(put_members(s, results, "powers", powers, count));
    return put_members(s, results, "along_z", places, sizeof places / sizeof *places);
}

/* The intensity in y and z, with the guides' outlines. */
static bn_status put_map(const bpm *s, bn_results *results)
{
    const bpm_history *m = &s->history;
    const size_t n = m->map_n;
    /* Records lie evenly, but for the last, which the end of the structure may cut short. */
    size_t columns = m->records;
    if (columns > 2 && m->record[columns - 1].z - m->record[columns - 2].z < 0.999 * m->record[1].z)
        columns--;
    if (!m->map || columns < 2)
        return BN_OK;
    double *values = calloc(2 * columns * n + n, sizeof *values), *lines = values + columns * n;
    double *line = lines + columns * n, level = s->c.background;
    double _Complex *row = calloc(s->c.n, sizeof *row);
    const bool straight = bpm_constant_steps(s, 0) >= s->c.steps;
    for (size_t k = 0; values && row && k < columns; k++) {
        if (k == 0 || !straight)
            s->geometry->outline(s, fmin(m->record[k].z + 0.5 * s->c.dz, s->c.length - 0.5 * s->c.dz), row, line);
        for (size_t i = 0; i < n; i++) {
            values[i * columns + k] = m->map[k * n + i];
            lines[i * columns + k] = line[i];
            level = fmax(level, line[i]);
        }
    }
    level = 0.5 * (level + s->c.background);
    const bn_map map = { .name = "intensity",
                         .title = "intensity along z",
                         .quantity = s->c.tm ? "|H n_ref / n|²" : s->geometry->map_quantity,
                         .shape = 2.2,
                         .unit = "",
                         .axes = { "z", "y" },
                         .n = { (uint32_t)columns, m->map_n },
                         .origin = { 0, s->c.h },
                         .h = { m->record[1].z, s->c.h },
                         .values = values,
                         .lines = level > s->c.background ? lines : NULL,
                         .levels = &level,
                         .level_count = 1 };
    const bn_status st = values && row ? bn_result_map(results, &map) : BN_OK;
    free(values);
    free(row);
    return st;
}

/* Effective index from theory's phase per step and what was found beyond it. */
double bpm_found_beta(const bpm *s, size_t beam, double phase)
{
    if (bpm_constant_steps(s, 0) < s->c.steps)
        return (double)NAN; /* the mode is not the same all along */
    const double along = (double)s->done * s->beam[beam].phase + phase;
    return bpm_k0(s, beam) * s->c.reference - along / ((double)s->done * s->c.dz);
}

bn_status bpm_measure(bn_sim *sim, void *state, bn_results *results)
{
    bpm *s = state;
    bpm_record end;
    (void)sim;
    BN_TRY(s->geometry->observe(s, &end, NULL));
    const double beta = bpm_found_beta(s, 0, end.phase), length = (double)s->done * s->c.dz;
    BN_TRY(bn_result(results, "power", end.power));
    BN_TRY(bn_result(results, "power_drift", end.power - 1));
    BN_TRY(bn_result(results, "overlap_start", end.start));
    BN_TRY(bn_result(results, "overlap_mirror", end.mirror));
    BN_TRY(bn_result(results, "overlap_mode", end.mode));
    BN_TRY(bn_result(results, "n_eff", s->space.relaxing ? s->space.relax_index : s->beam[0].n_eff));
    BN_TRY(bn_result(results, "marched_index", beta / bpm_k0(s, 0)));
    BN_TRY(bn_result(results, "beta", beta));
    BN_TRY(bn_result(results, "beta_error", isfinite(beta) ? -end.phase / length : beta));
    BN_TRY(bn_result(results, "phase_error", isfinite(beta) ? -end.phase : beta));
    BN_TRY(bn_result(results, "peak", end.peak));
    BN_TRY(bn_result(results, "centre", end.centre));
    BN_TRY(bn_result(results, "beam_width", end.width));
    for (size_t i = 0; i < s->history.ports; i++)
        BN_TRY(bn_result(results, bpm_port_names[i], end.port[i]));
    BN_TRY(s->geometry->results(s, &end, results));
    BN_TRY(put_map(s, results));
    return s->history.records > 0 ? put_series(s, results) : BN_OK;
}
