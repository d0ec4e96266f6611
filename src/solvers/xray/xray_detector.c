/* xray_detector.c: where the photons come from, how they are scattered and where the detector's cells lie, as the
 * numbers and tables that the flight needs. */
#include "xray.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* Nearest integer multiple of 2^-31. */
static long long direction_integer(double x) { return llround(x * 0x1p31); }

/* --- the law of scattering --- */

/* The same of a table of (angle, density in solid angle): the density is linear in 1 - cos between its rows. */
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

/* Share of the photons whose 1 - cos(theta) is below d, without normalisation. */
static double distribution(const xray *s, double g, double d)
{
    switch (s->law) {
    case XRAY_THOMSON: /* 1 + cos^2 */
    case XRAY_POLARISED: return 2 * d - d * d + d * d * d / 3;
    case XRAY_HENYEY: return g == 0 ? d : (1 / (1 - g) - 1 / sqrt((1 - g) * (1 - g) + 2 * g * d)) / g;
    case XRAY_TABLE: return table_share(s->law_table, d);
    default: return d;
    }
}

static bn_status read_law(const bn_case *c, xray *s, bn_plan *p)
{
    BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_TABLE, .key = "scattering.table" }, &s->law_table));
    const bn_input *t = s->law_table;
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
    if (s->theta_max > end * (1 + 1e-9))
        return bn_case_reject(c, "scattering.theta_max", NULL, "the table ends at %g rad", end);
    if (!(table_share(t, 2 * pow(sin(0.5 * s->theta_max), 2)) > 0))
        return bn_case_reject(c, "scattering.table", NULL, "all densities are zero");
    return BN_OK;
}

static bn_status plan_angles(const bn_case *c, xray *s, bn_plan *p)
{
    const size_t nodes = (size_t)1 << XRAY_ANGLE_BITS;
    const double most = 1 - cos(s->theta_max), g = bn_case_real(c, "scattering.g");
    const double largest = s->theta_max < 0.1 ? 2 * pow(sin(0.5 * s->theta_max), 2) : most;
    if (s->law == XRAY_TABLE)
        BN_TRY(read_law(c, s, p));
    const double all = distribution(s, g, largest);
    s->k.deficit = largest;
    s->k.angle_bits = s->law == XRAY_UNIFORM ? 0 : XRAY_ANGLE_BITS;
    s->k.polarised = s->law == XRAY_POLARISED;
    BN_TRY(bn_plan_allocate(p, (nodes + 1) * sizeof *s->angle, (void **)&s->angle));
    for (size_t i = 1; i <= nodes; i++) {
        double low = 0, high = largest;
        for (int k = 0; k < 200 && low < high; k++) {
            const double middle = 0.5 * (low + high);
            if (distribution(s, g, middle) < all * (double)i / (double)nodes)
                low = middle;
            else
                high = middle;
        }
        s->angle[i] = 0.5 * (low + high);
    }
    /* Density of directions of the expected-value estimator, and what its samples stand for. */
    const double cells = (double)s->cells[0] * s->cells[1];
    const double weight = cells / s->k.samples * s->solid_angle / (2 * pi * all);
    s->k.fixed_bits = XRAY_FIXED_BITS;
    if (s->k.expected) /* parts of a photon are counted as finely as whole ones */
        s->k.fixed_bits += (int)fmax(0, fmin(ceil(-log2(weight)), 62 - XRAY_FIXED_BITS));
    /* Whatever the weights, the sums can't run over. */
    s->k.fixed_bits = (int)fmin(s->k.fixed_bits, floor(60 - log2(s->k.expected ? (double)s->photons * weight : 1)));
    s->k.gain = s->k.expected ? 1 / (weight * weight) : 1; /* shows intensities in squares of what is added at a time */
    s->k.expectation = ldexp(weight, s->k.fixed_bits - 16);
    if (s->k.expected && s->law != XRAY_UNIFORM && s->law != XRAY_THOMSON)
        return bn_case_reject(c, "solver.estimator", NULL,
                              "the expected-value estimator knows uniform and thomson only");
    if (s->k.expected && s->k.most > 1)
        return bn_case_reject(c, "solver.estimator", NULL, "the expected-value estimator knows single scattering only");
    return BN_OK;
}

/* --- the detector --- */

static double tangent(const xray *s, uint32_t i, int axis)
{
    const double at = ((double)i - (double)(s->cells[axis] / 2)) * s->cell_angle;
    return s->k.equal_angles ? tan(at) : at;
}

bn_status xray_plan_detector(const bn_case *c, xray *s, bn_plan *p)
{
    const size_t nx = s->cells[0], ny = s->cells[1];
    const double stop = bn_case_real(c, "detector.beam_stop");
    s->solid_angle = s->cell_angle * s->cell_angle;
    for (int d = 0; d < 2; d++)
        if (s->k.equal_angles && 0.5 * s->cells[d] * s->cell_angle > 0.49 * pi)
            return bn_case_reject(c, "detector.cells", NULL, "%u cells of %g rad reach beyond a right angle",
                                  s->cells[d], s->cell_angle);
    /* The direct beam, in cells. */
    double beam[2];
    for (int d = 0; d < 2; d++) {
        const double t = s->k.beam[d + 1] / s->k.beam[0];
        beam[d] = (s->k.equal_angles ? atan(t) : t) / s->cell_angle + (double)(s->cells[d] / 2);
    }
    const bool counted = bn_plan_only_counts(p, (double)nx * (double)ny);
    if (!counted) {
        BN_TRY(bn_plan_allocate(p, 4 * nx * ny * sizeof *s->toward, (void **)&s->toward));
        BN_TRY(bn_plan_allocate(p, nx * ny * sizeof *s->stopped, (void **)&s->stopped));
    }
    for (uint32_t j = 0; j < ny && !counted; j++)
        for (uint32_t i = 0; i < nx; i++) {
            const double ty = tangent(s, i, 0), tz = tangent(s, j, 1), r = ty * ty + tz * tz, norm = sqrt(1 + r);
            const double stretch = s->k.equal_angles ? (1 + ty * ty) * (1 + tz * tz) : 1, di = i - beam[0],
                         dj = j - beam[1];
            int32_t *t = s->toward + 4 * ((size_t)j * nx + i);
            t[0] = (int32_t)fmin((double)direction_integer(r / (norm * (1 + norm))), INT32_MAX);
            t[1] = (int32_t)direction_integer(ty / norm);
            t[2] = (int32_t)direction_integer(tz / norm);
            s->stopped[(size_t)j * nx + i] = di * di + dj * dj < stop * stop;
            t[3] = di * di + dj * dj < stop * stop ? 0 : (int32_t)llround(0x1p16 * stretch / (norm * norm * norm));
        }
    for (int d = 0; d < 2; d++) /* the outer edges, and a little more */
        s->k.reach = fmax(s->k.reach,
                          fabs(tangent(s, 0, d)) + s->cell_angle * (1 + tangent(s, 0, d) * tangent(s, 0, d)));
    s->k.halvings = s->k.reach > 0.25 ? 2 : 0;
    const double corner = sqrt(pow(tangent(s, 0, 0), 2) + pow(tangent(s, 0, 1), 2));
    if (s->theta_max < (stop > 0 ? stop : 0.5) * s->cell_angle)
        return bn_case_reject(c, "scattering.theta_max", NULL,
                              "photons scattered by at most %g rad do not leave the detector's %s of %g rad",
                              s->theta_max, stop > 0 ? "beam stop" : "central cell",
                              (stop > 0 ? stop : 0.5) * s->cell_angle);
    BN_TRY(bn_plan_note(p, "detector reaches to", atan(corner), "rad"));
    const double real = bn_case_double(c) ? 8 : 4, cells = (double)s->box[0] * s->box[1] * s->box[2];
    BN_TRY(bn_plan_note(p, "density and counters beside the fields", (cells * real + 48.0 * (double)(nx * ny)) / 0x1p20,
                        "MiB"));
    return plan_angles(c, s, p);
}

/* --- the source --- */

static double longest_path(const xray *s)
{
    double sum = 0;
    for (int d = 0; d < 3; d++)
        sum += s->n[d] * s->h[d] * (s->n[d] * s->h[d]);
    return sqrt(sum);
}

bn_status xray_plan_source(const bn_case *c, xray *s, bn_plan *p)
{
    xray_constants *k = &s->k;
    double size[2], shift[2];
    for (size_t d = 0; d < 2; d++) {
        const double face = s->n[d + 1] * s->h[d + 1];
        size[d] = bn_case_real_at(c, "source.size", d);
        shift[d] = bn_case_real_at(c, "source.centre", d);
        if (k->profile == XRAY_PENCIL)
            size[d] = 0;
        else if (size[d] == 0)
            size[d] = face;
        if (0.5 * size[d] + fabs(shift[d]) > 0.5 * face * (1 + 1e-9) && k->profile == XRAY_EVEN)
            return bn_case_reject(c, "source.size", NULL, "the light is wider than the entrance face of %g m", face);
    }
    const double longest = longest_path(s) + (k->profile == XRAY_GAUSSIAN ? 8 : 0) * fmax(size[0], size[1]);
    k->path_bits = (int)fmin(floor(31 - log2(longest / s->wavelength)), 24);
    if (k->path_bits < 1)
        return bn_case_reject(c, "source.wavelength", NULL, "%g m are more wavelengths than 2^30", longest);
    const double unit = s->wavelength / (double)(1 << k->path_bits);
    const double share = k->profile == XRAY_GAUSSIAN ? 1 / sqrt(8 * log(2)) : 1; /* full width at half maximum */
    k->aperture_y = llround(share * size[0] / unit);
    k->aperture_z = llround(share * size[1] / unit);
    k->shift_y = llround(shift[0] / unit);
    k->shift_z = llround(shift[1] / unit);
    k->place_y = llround(s->h[1] / unit * 65536);
    k->place_z = llround(s->h[2] / unit * 65536);
    k->start_x = -(double)s->first[0];
    k->centre_y = 0.5 * s->n[1] - s->first[1];
    k->centre_z = 0.5 * s->n[2] - s->first[2];
    k->unit_y = unit / s->h[1];
    k->unit_z = unit / s->h[2];
    k->per_y = s->h[0] / s->h[1];
    k->per_z = s->h[0] / s->h[2];
    k->path_scale = s->h[0] / unit;
    k->far_y = k->far_z = unit / s->distance;
    k->per_cell_y = k->per_cell_z = 1 / s->cell_angle;
    const double ty = tan(bn_case_real_at(c, "source.tilt", 0)), tz = tan(bn_case_real_at(c, "source.tilt", 1));
    const double r = ty * ty + tz * tz, norm = sqrt(1 + r), turn = bn_case_real(c, "source.polarisation");
    k->beam[0] = 1 / norm;
    k->beam[1] = ty / norm;
    k->beam[2] = tz / norm;
    k->beam_id = direction_integer(r / (norm * (1 + norm)));
    k->beam_iv = direction_integer(k->beam[1]);
    k->beam_iw = direction_integer(k->beam[2]);
    /* The polarisation as near to its angle as the direction allows. */
    const double e[3] = { 0, cos(turn), sin(turn) };
    const double along = e[1] * k->beam[1] + e[2] * k->beam[2];
    double length = 0;
    for (int d = 0; d < 3; d++) {
        k->e[d] = e[d] - along * k->beam[d];
        length += k->e[d] * k->e[d];
    }
    for (int d = 0; d < 3; d++)
        k->e[d] /= sqrt(length);
    const double fresnel = pow(0.5 * fmax(size[0], size[1]), 2) / (s->wavelength * s->distance);
    if (fresnel > 0.05)
        return bn_case_reject(
            c, "detector.distance", NULL,
            "not the far field: (half the light's width)^2 / (wavelength distance) = %.3g, at most 0.05", fresnel);
    BN_TRY(bn_plan_note(p, "Fresnel number", fresnel, ""));
    return bn_plan_note(p, "step of the phase", 2 * pi / (double)(1ll << 31) * longest / s->wavelength, "rad");
}
