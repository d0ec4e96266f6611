/* xray_detector.c: the source, the law of scattering and the detector's cells, as the constants and arrays that tracing
 * needs. */
#include "xray.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* Nearest integer multiple of 2^-31. */
static long long direction_integer(double x) { return llround(x * 0x1p31); }

/* --- the law of scattering --- */

/* Photons whose 1 - cos(theta) is below d, without normalisation, by a table of angle and density in solid angle: the
 * density is linear in 1 - cos between its rows. */
static double table_share(const bn_input *t, double d)
{
    double sum = 0;
    for (size_t i = 1; i < t->rows; i++) {
        const double *row = t->values + i * t->columns, *before = row - t->columns;
        const double low = 2 * pow(sin(0.5 * before[0]), 2), high = 2 * pow(sin(0.5 * row[0]), 2);
        if (d <= low)
            break;
        const double end = fmin(d, high), at_end = before[1] + (row[1] - before[1]) * (end - low) / (high - low);
        sum += 0.5 * (before[1] + at_end) * (end - low);
    }
    return sum;
}

/* The same by any law. */
static double distribution(const xray *s, double g, double d)
{
    switch (s->config.law) {
    case XRAY_THOMSON: /* 1 + cos^2 */
    case XRAY_POLARISED: return 2 * d - d * d + d * d * d / 3;
    case XRAY_HENYEY: return g == 0 ? d : (1 / (1 - g) - 1 / sqrt((1 - g) * (1 - g) + 2 * g * d)) / g;
    case XRAY_TABLE: return table_share(s->detector.law_table, d);
    default: return d;
    }
}

static bn_status read_law(const bn_case *c, xray *s, bn_plan *p)
{
    BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_TABLE, .key = "scattering.table" },
                         &s->detector.law_table));
    const bn_input *t = s->detector.law_table;
    if (!t || t->columns < 2 || t->rows < 2)
        return bn_case_reject(c, "scattering.table", NULL, "%s",
                              t ? "two columns, angle and density, and two rows are needed" : "there is no such file");
    for (size_t i = 0; i < t->rows; i++) {
        const double *row = t->values + i * t->columns;
        const bool ascends = i == 0 ? row[0] == 0 : row[0] > *(row - t->columns);
        if (!ascends || row[0] > pi * (1 + 1e-9) || !(row[1] >= 0 && row[1] < HUGE_VAL))
            return bn_case_reject(c, "scattering.table", NULL,
                                  "row %zu: angles rise from 0 to pi at most, and densities are not negative", i + 1);
    }
    const double end = t->values[(t->rows - 1) * t->columns];
    if (s->config.theta_max > end * (1 + 1e-9))
        return bn_case_reject(c, "scattering.theta_max", NULL, "the table ends at %g rad", end);
    if (!(table_share(t, 2 * pow(sin(0.5 * s->config.theta_max), 2)) > 0))
        return bn_case_reject(c, "scattering.table", NULL, "all densities are zero");
    return BN_OK;
}

/* The inverse distribution of 1 - cos theta at equal steps, by bisection. */
static bn_status plan_angles(const bn_case *c, xray *s, bn_plan *p, double *all)
{
    const size_t nodes = (size_t)1 << XRAY_ANGLE_BITS;
    const double theta_max = s->config.theta_max, g = bn_case_real(c, "scattering.g");
    const double largest = theta_max < 0.1 ? 2 * pow(sin(0.5 * theta_max), 2) : 1 - cos(theta_max);
    double *angle;
    if (s->config.law == XRAY_TABLE)
        BN_TRY(read_law(c, s, p));
    *all = distribution(s, g, largest);
    s->k.deficit = largest;
    s->i.angle_bits = s->config.law == XRAY_UNIFORM ? 0 : XRAY_ANGLE_BITS;
    BN_TRY(bn_plan_allocate(p, (nodes + 1) * sizeof *angle, (void **)&angle));
    s->detector.angle = angle;
    for (size_t i = 1; i <= nodes; i++) {
        double low = 0, high = largest;
        for (int k = 0; k < 200 && low < high; k++) {
            const double middle = 0.5 * (low + high);
            if (distribution(s, g, middle) < *all * (double)i / (double)nodes)
                low = middle;
            else
                high = middle;
        }
        angle[i] = 0.5 * (low + high);
    }
    return BN_OK;
}

/* What is added to the picture at a time. `all`: integral of the law of scattering over 1 - cos. */
static bn_status plan_estimator(const bn_case *c, xray *s, double all)
{
    const xray_config *k = &s->config;
    const double weight = (double)xray_detector_cells(s) / k->samples * s->detector.solid_angle / (2 * pi * all);
    const bool expected = k->estimator == XRAY_EXPECTED;
    int bits = XRAY_FIXED_BITS;
    if (expected) /* parts of a photon are counted as finely as whole ones */
        bits += (int)fmax(0, fmin(ceil(-log2(weight)), 62 - XRAY_FIXED_BITS));
    /* Whatever the weights, the sums can't overflow. */
    s->i.fixed_bits = (int)fmin(bits, floor(60 - log2(expected ? (double)k->photons * weight : 1)));
    s->k.gain = expected ? 1 / (weight * weight) : 1; /* shows intensities in squares of what is added at a time */
    s->k.expectation = ldexp(weight, s->i.fixed_bits - 16);
    if (expected && k->law != XRAY_UNIFORM && k->law != XRAY_THOMSON)
        return bn_case_reject(c, "solver.estimator", NULL,
                              "the expected-value estimator knows uniform and thomson only");
    if (expected && k->scatterings_max > 1)
        return bn_case_reject(c, "solver.estimator", NULL, "the expected-value estimator knows single scattering only");
    return BN_OK;
}

/* --- the detector --- */

static double tangent(const xray *s, uint32_t i, int axis)
{
    const double at = ((double)i - (double)(s->config.cells[axis] / 2)) * s->config.cell_angle;
    return s->config.spacing == XRAY_ANGLES ? tan(at) : at;
}

/* Direction and solid angle of every cell; `beam`: where the direct beam meets the detector, in cells. */
static void set_directions(xray *s, const double beam[2], double stop)
{
    const uint32_t nx = s->config.cells[0], ny = s->config.cells[1];
    for (uint32_t j = 0; j < ny; j++)
        for (uint32_t i = 0; i < nx; i++) {
            const double ty = tangent(s, i, 0), tz = tangent(s, j, 1), r = ty * ty + tz * tz, norm = sqrt(1 + r);
            const double stretch = s->config.spacing == XRAY_ANGLES ? (1 + ty * ty) * (1 + tz * tz) : 1;
            const double di = i - beam[0], dj = j - beam[1];
            const bool stopped = di * di + dj * dj < stop * stop;
            const size_t at = (size_t)j * nx + i;
            int32_t *t = s->detector.directions + 4 * at;
            t[0] = (int32_t)fmin((double)direction_integer(r / (norm * (1 + norm))), INT32_MAX);
            t[1] = (int32_t)direction_integer(ty / norm);
            t[2] = (int32_t)direction_integer(tz / norm);
            t[3] = stopped ? 0 : (int32_t)llround(0x1p16 * stretch / (norm * norm * norm));
            s->detector.stopped[at] = stopped;
        }
}

bn_status xray_plan_detector(const bn_case *c, xray *s, bn_plan *p)
{
    const xray_config *k = &s->config;
    const size_t cells = xray_detector_cells(s);
    const bool angles = k->spacing == XRAY_ANGLES;
    const double stop = bn_case_real(c, "detector.beam_stop"),
                 tangents[2] = { s->k.beam_v / s->k.beam_u, s->k.beam_w / s->k.beam_u };
    double beam[2], all;
    s->detector.solid_angle = k->cell_angle * k->cell_angle;
    for (int d = 0; d < 2; d++) {
        if (angles && 0.5 * k->cells[d] * k->cell_angle > 0.49 * pi)
            return bn_case_reject(c, "detector.cells", NULL, "%u cells of %g rad reach beyond a right angle",
                                  k->cells[d], k->cell_angle);
        beam[d] = (angles ? atan(tangents[d]) : tangents[d]) / k->cell_angle + (double)(k->cells[d] / 2);
    }
    if (!bn_plan_only_counts(p, (double)cells)) {
        BN_TRY(bn_plan_allocate(p, 4 * cells * sizeof *s->detector.directions, (void **)&s->detector.directions));
        BN_TRY(bn_plan_allocate(p, cells * sizeof *s->detector.stopped, (void **)&s->detector.stopped));
        set_directions(s, beam, stop);
    }
    for (int d = 0; d < 2; d++) { /* the outer edges, and a little more */
        const double edge = tangent(s, 0, d);
        s->k.reach = fmax(s->k.reach, fabs(edge) + k->cell_angle * (1 + edge * edge));
    }
    s->i.halvings = s->k.reach > 0.25 ? 2 : 0;
    const double hidden = (stop > 0 ? stop : 0.5) * k->cell_angle;
    if (k->theta_max < hidden)
        return bn_case_reject(c, "scattering.theta_max", NULL,
                              "photons scattered by at most %g rad do not leave the detector's %s of %g rad",
                              k->theta_max, stop > 0 ? "beam stop" : "central cell", hidden);
    BN_TRY(bn_plan_note(p, "detector reaches to", atan(hypot(tangent(s, 0, 0), tangent(s, 0, 1))), "rad"));
    const double real = bn_case_double(c) ? 8 : 4, box = (double)xray_cells(s->volume.box);
    BN_TRY(
        bn_plan_note(p, "density and counters beside the fields", (box * real + 48.0 * (double)cells) / 0x1p20, "MiB"));
    BN_TRY(plan_angles(c, s, p, &all));
    return plan_estimator(c, s, all);
}

/* --- the source --- */

/* The diagonal of the grid. */
static double longest_path(const xray_volume *v)
{
    double sum = 0;
    for (int d = 0; d < 3; d++)
        sum += v->n[d] * v->h[d] * (v->n[d] * v->h[d]);
    return sqrt(sum);
}

/* Direction of the beam, and the polarisation as near to its angle as the direction allows. */
static void plan_beam(const bn_case *c, xray_constants *k, long long units[3])
{
    const double ty = tan(bn_case_real_at(c, "source.tilt", 0)), tz = tan(bn_case_real_at(c, "source.tilt", 1));
    const double r = ty * ty + tz * tz, norm = sqrt(1 + r), angle = bn_case_real(c, "source.polarisation");
    k->beam_u = 1 / norm;
    k->beam_v = ty / norm;
    k->beam_w = tz / norm;
    units[0] = direction_integer(r / (norm * (1 + norm)));
    units[1] = direction_integer(k->beam_v);
    units[2] = direction_integer(k->beam_w);
    const double ev = cos(angle), ew = sin(angle), along = ev * k->beam_v + ew * k->beam_w;
    const double e[3] = { 0 - along * k->beam_u, ev - along * k->beam_v, ew - along * k->beam_w };
    const double length = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    k->e_u = e[0] / length;
    k->e_v = e[1] / length;
    k->e_w = e[2] / length;
}

bn_status xray_plan_source(const bn_case *c, xray *s, bn_plan *p)
{
    const xray_volume *v = &s->volume;
    const xray_config *in = &s->config;
    xray_constants *k = &s->k;
    xray_integers *n = &s->i;
    double size[2], shift[2];
    for (size_t d = 0; d < 2; d++) {
        const double face = v->n[d + 1] * v->h[d + 1];
        size[d] = bn_case_real_at(c, "source.size", d);
        shift[d] = bn_case_real_at(c, "source.centre", d);
        if (in->profile == XRAY_PENCIL)
            size[d] = 0;
        else if (size[d] == 0)
            size[d] = face;
        if (0.5 * size[d] + fabs(shift[d]) > 0.5 * face * (1 + 1e-9) && in->profile == XRAY_UNIFORM_LIGHT)
            return bn_case_reject(c, "source.size", NULL, "the light is wider than the entrance face of %g m", face);
    }
    const bool gaussian = in->profile == XRAY_GAUSSIAN;
    const double longest = longest_path(v) + (gaussian ? 8 : 0) * fmax(size[0], size[1]);
    n->path_bits = (int)fmin(floor(31 - log2(1.000001 * longest / in->wavelength)),
                             24); /* in 31 bits, rounded up, too */
    if (n->path_bits < 1)
        return bn_case_reject(c, "source.wavelength", NULL, "%g m are more wavelengths than 2^30", longest);
    const double unit = in->wavelength / (double)(1 << n->path_bits);
    const double share = gaussian ? 1 / sqrt(8 * log(2)) : 1; /* full width at half maximum */
    for (int d = 0; d < 2; d++) {
        n->aperture[d] = llround(share * size[d] / unit);
        n->shift[d] = llround(shift[d] / unit);
        n->cell_side[d] = llround(v->h[d + 1] / unit * 65536);
    }
    k->start_x = -(double)v->first[0];
    k->centre_y = 0.5 * v->n[1] - v->first[1];
    k->centre_z = 0.5 * v->n[2] - v->first[2];
    k->unit_y = unit / v->h[1];
    k->unit_z = unit / v->h[2];
    k->per_y = v->h[0] / v->h[1];
    k->per_z = v->h[0] / v->h[2];
    k->path_scale = v->h[0] / unit;
    k->far_y = k->far_z = unit / in->distance;
    k->per_cell_y = k->per_cell_z = 1 / in->cell_angle;
    plan_beam(c, k, n->beam);
    const double fresnel = pow(0.5 * fmax(size[0], size[1]), 2) / (in->wavelength * in->distance);
    if (fresnel > 0.05)
        return bn_case_reject(
            c, "detector.distance", NULL,
            "not the far field: (half the light's width)^2 / (wavelength distance) = %.3g, at most 0.05", fresnel);
    BN_TRY(bn_plan_note(p, "Fresnel number", fresnel, ""));
    return bn_plan_note(p, "step of the phase", 2 * pi / (double)(1ll << 31) * longest / in->wavelength, "rad");
}
