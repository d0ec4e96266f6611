/* xray_measure.c: what became of the photons; cuts through the picture, beside closed forms and the Fourier picture;
 * means over rings. */
#include "xray.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

static double sinc(double x) { return x == 0 ? 1 : sin(x) / x; }

/* Lines of a grating that the light meets. */
static double lines_of(const xray *s)
{
    return fmax(1, floor(s->volume.n[1] * s->volume.h[1] / s->config.pitch + 0.5));
}

/* Amplitude behind the slits at the sine of an angle, 1 straight ahead. */
static double slits(const xray *s, double sine)
{
    const double k = 2 * pi / s->config.wavelength, width = sinc(0.5 * k * s->config.width * sine),
                 turn = 0.5 * k * s->config.pitch * sine;
    const double n = lines_of(s);
    if (s->config.density == XRAY_SINGLE_SLIT)
        return width;
    if (s->config.density == XRAY_DOUBLE_SLIT)
        return width * cos(turn);
    return fabs(sin(turn)) < 1e-9 ? width * cos(n * turn) / cos(turn) : width * sin(n * turn) / (n * sin(turn));
}

/* The cut along y: everything at one detector cell. */
typedef struct cut {
    size_t count;
    double *angle, *measured, *curve, *fourier, *hits;
    bool *used;
} cut;

static double angle_of(const xray *s, uint32_t i, int axis)
{
    const double at = ((double)i - (double)(s->config.cells[axis] / 2)) * s->config.cell_angle;
    return (s->config.spacing == XRAY_ANGLES) ? at : atan(at);
}

/* Scales `values` so that their sum over the used cells is that of `model`, and returns the mean squared difference:
 * the figure of merit of Grund (2016), which he calls MQF. */
static double mean_square(const cut *c, const double *values, const double *model, double *scale)
{
    double sum = 0, target = 0, squares = 0, count = 0;
    for (size_t i = 0; i < c->count; i++)
        if (c->used[i]) {
            sum += values[i];
            target += model[i];
            count++;
        }
    *scale = sum > 0 ? target / sum : 0;
    for (size_t i = 0; i < c->count; i++)
        if (c->used[i])
            squares += pow(values[i] * *scale - model[i], 2);
    return count > 0 ? squares / count : (double)NAN;
}

/* What photons at random, on average mu in a cell, lead to: s^2 (2 <I (1 + J)> / mu + (<I^2> / <I>^2 + <J^2>) / mu^2 +
 * 1 / mu^3), J the mean of exp(2 i phi), s = 1 / (1 + 1 / (<I> mu)); the derivation is in docs/xray.md. */
static double expected_square(const xray *s, const cut *c)
{
    double i1 = 0, i2 = 0, ij = 0, j2 = 0, mu = 0, count = 0;
    for (size_t n = 0; n < c->count; n++)
        if (c->used[n]) {
            const double sine = sin(c->angle[n]), i = pow(slits(s, sine), 2), j = slits(s, 2 * sine);
            i1 += i;
            i2 += i * i;
            ij += i * (1 + j);
            j2 += j * j;
            mu += c->hits[n];
            count++;
        }
    i1 /= count, i2 /= count, ij /= count, j2 /= count, mu /= count;
    const double scale = 1 / (1 + 1 / (i1 * mu));
    return scale * scale * (2 * ij / mu + (i2 / (i1 * i1) + j2) / (mu * mu) + 1 / (mu * mu * mu));
}

static bn_status measure_cut(const xray *s, cut *c, const double *intensity, const double *hits, const double *fourier,
                             bn_results *results)
{
    const size_t nx = s->config.cells[0], row = s->config.cells[1] / 2 * nx;
    double scale = 1, most = 0, unused;
    for (size_t i = 0; i < nx; i++) {
        c->angle[i] = angle_of(s, (uint32_t)i, 0);
        c->measured[i] = intensity[row + i];
        c->curve[i] = xray_against_curve(s) ? pow(slits(s, sin(c->angle[i])), 2) : (double)NAN;
        c->fourier[i] = fourier ? fourier[row + i] : (double)NAN;
        c->hits[i] = hits[row + i];
        c->used[i] = s->detector.directions[4 * (row + i) + 3] != 0;
        most = fmax(most, fourier ? fourier[row + i] : 0);
    }
    for (size_t i = 0; i < nx && most > 0; i++)
        c->fourier[i] /= most;
    if (fourier) {
        BN_TRY(bn_result(results, "mqf_fft", mean_square(c, c->measured, c->fourier, &scale)));
        if (xray_against_curve(s))
            BN_TRY(bn_result(results, "fft_error", mean_square(c, c->fourier, c->curve, &unused)));
    }
    if (xray_against_curve(s)) {
        BN_TRY(bn_result(results, "mqf", mean_square(c, c->measured, c->curve, &scale)));
        if (s->config.estimator == XRAY_ANALOG)
            BN_TRY(bn_result(results, "mqf_expected", expected_square(s, c)));
    }
    for (size_t i = 0; i < nx; i++)
        c->measured[i] = c->used[i] ? c->measured[i] * scale : (double)NAN;
    bn_column columns[4] = { { "angle", "rad", c->angle }, { "photons", "", c->measured } };
    size_t count = 2;
    if (xray_against_curve(s))
        columns[count++] = (bn_column){ "closed form", "", c->curve };
    if (fourier)
        columns[count++] = (bn_column){ "Fourier picture", "", c->fourier };
    return bn_result_table(results, "cut", columns, count, nx);
}

bn_status xray_cut_error(bn_sim *sim, const xray *s, double *mqf)
{
    const uint32_t nx = s->config.cells[0], middle = s->config.cells[1] / 2;
    const bn_region row = { .first = { 0, middle, 0 }, .n = { nx, 1, 1 } };
    double *measured = malloc(2 * nx * sizeof *measured), scale;
    bool *used = calloc(nx, sizeof *used);
    cut c = { .count = nx, .used = used };
    bn_status st = measured && used ? bn_field_read_region(s->fields.intensity, 0, 1, &row, BN_AS_DOUBLES, measured)
                                    : bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory to measure the picture");
    for (uint32_t i = 0; st == BN_OK && i < nx; i++) {
        measured[nx + i] = pow(slits(s, sin(angle_of(s, i, 0))), 2);
        used[i] = s->detector.directions[4 * ((size_t)middle * nx + i) + 3] != 0;
    }
    if (st == BN_OK)
        *mqf = mean_square(&c, measured, measured + nx, &scale);
    free(measured);
    free(used);
    return st;
}

/* The first orders of a grating on both sides, which differ where it is no mirror image of itself. Photons at random
 * leave an intensity that is distributed exponentially: its mean between the orders is its standard deviation too.
 * |mean of exp(i phi)|^2 of N photons is (I - N) / N^2. */
static bn_status measure_orders(const xray *s, const double *intensity, const double *hits, bn_results *results)
{
    const size_t nx = s->config.cells[0], row = s->config.cells[1] / 2 * nx;
    const double step = s->config.wavelength / s->config.pitch / s->config.cell_angle;
    static const char *const names[2][2] = { { "first_order_minus", "first_order_minus_sigma" },
                                             { "first_order_plus", "first_order_plus_sigma" } };
    double between = 0, count = 0;
    for (size_t i = 0; i < nx; i++) {
        const double order = ((double)i - (double)(nx / 2)) / step;
        if (s->detector.directions[4 * (row + i) + 3] && fabs(order - round(order)) > 0.25) {
            between += intensity[row + i];
            count++;
        }
    }
    between /= count;
    for (int side = 0; side < 2; side++) {
        const size_t at = row + (size_t)((double)(nx / 2) + (2 * side - 1) * step + 0.5);
        BN_TRY(bn_result(results, names[side][0], (intensity[at] - hits[at]) / (hits[at] * hits[at])));
        BN_TRY(bn_result(results, names[side][1], (intensity[at] - between) / between));
    }
    return BN_OK;
}

/* Whether the first orders of a grating lie on the detector. */
static bool has_orders(const xray *s)
{
    return (s->config.density == XRAY_GRATING || s->config.density == XRAY_OFFSET_GRATINGS) &&
           s->config.estimator == XRAY_ANALOG &&
           s->config.wavelength / s->config.pitch / s->config.cell_angle + 1 < (double)(s->config.cells[0] / 2);
}

static bn_status measure_rings(const xray *s, const double *intensity, const double *hits, double *room,
                               bn_results *results)
{
    const size_t nx = s->config.cells[0], ny = s->config.cells[1], rings = (nx < ny ? nx : ny) / 2;
    double *q = room, *mean = q + rings, *error = mean + rings, *photons = error + rings, *count = photons + rings;
    for (size_t r = 0; r < rings; r++) {
        q[r] = 4 * pi / s->config.wavelength * sin(0.5 * (double)r * s->config.cell_angle);
        mean[r] = error[r] = photons[r] = count[r] = 0;
    }
    for (size_t c = 0; c < nx * ny; c++) {
        const double x = (double)(c % nx) - (double)(nx / 2), y = (double)(c / nx) - (double)(ny / 2);
        const size_t r = (size_t)(sqrt(x * x + y * y) + 0.5);
        if (r < rings && s->detector.directions[4 * c + 3]) {
            mean[r] += intensity[c];
            error[r] += intensity[c] * intensity[c];
            photons[r] += hits[c];
            count[r]++;
        }
    }
    for (size_t r = 0; r < rings; r++) {
        mean[r] = count[r] > 0 ? mean[r] / count[r] : (double)NAN;
        /* Of the mean of the cells, which are independent. */
        error[r] = count[r] > 1 ? sqrt(fmax(0, error[r] / count[r] - mean[r] * mean[r]) / (count[r] - 1)) : (double)NAN;
        photons[r] = count[r] > 0 ? photons[r] / count[r] : (double)NAN;
    }
    const bn_column columns[] = { { "q", "m-1", q },
                                  { "photons in phase", "", mean },
                                  { "photons in phase" BN_STANDARD_ERROR, "", error },
                                  { "photons, counted", "", photons } };
    return bn_result_table(results, "rings", columns, s->config.estimator == XRAY_EXPECTED ? 3 : 4, rings);
}

/* Sums of the tallies over the detector's cells. */
static bn_status sum_tallies(bn_sim *sim, xray *s, int64_t total[XRAY_TALLIES])
{
    const size_t cells = xray_detector_cells(s), bytes = XRAY_TALLIES * cells * sizeof(int64_t);
    int64_t *tallies = malloc(bytes);
    if (!tallies)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory to count the photons");
    const bn_status st = bn_field_read(s->fields.tallies, tallies, bytes);
    for (size_t n = 0; n < XRAY_TALLIES; n++) {
        total[n] = 0;
        for (size_t c = 0; st == BN_OK && c < cells; c++)
            total[n] += tallies[n * cells + c];
    }
    free(tallies);
    return st;
}

/* Photons in the picture: sums of whole numbers, exact unless some are absorbed or the estimator is another. */
static bn_status sum_picture(bn_sim *sim, xray *s, double *photons)
{
    const size_t cells = xray_detector_cells(s), bytes = 3 * cells * sizeof(int64_t);
    int64_t *sums = malloc(bytes), all = 0;
    if (!sums)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory to count the photons");
    const bn_status st = bn_field_read(s->fields.sums, sums, bytes);
    for (size_t c = 2 * cells; st == BN_OK && c < 3 * cells; c++)
        all += sums[c];
    *photons = ldexp((double)all, -s->i.fixed_bits);
    free(sums);
    return st;
}

static bn_status measure_tallies(bn_sim *sim, xray *s, bn_results *results)
{
    int64_t sum[XRAY_TALLIES];
    double total[XRAY_TALLIES], order[XRAY_ORDERS], share[XRAY_ORDERS], counted = 0;
    BN_TRY(sum_tallies(sim, s, sum));
    for (int n = 0; n < XRAY_TALLIES; n++)
        total[n] = (double)sum[n];
    const int64_t absorbed = ((int64_t)s->traced << s->i.tally_bits) - sum[XRAY_ESCAPED];
    double picture = total[XRAY_DETECTED];
    if (s->config.estimator == XRAY_ANALOG && !(s->i.absorption > 0))
        BN_TRY(sum_picture(sim, s, &picture));
    const double all = (double)s->traced, unit = ldexp(1, -s->i.tally_bits);
    for (int n = 0; n < XRAY_ORDERS; n++) {
        order[n] = n;
        share[n] = total[n] / all;
        counted += total[n];
    }
    const double ended = total[XRAY_DETECTED] + total[XRAY_STOPPED] + total[XRAY_MISSED];
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        { "photons", all },
        { "detected", total[XRAY_DETECTED] },
        { "stopped", total[XRAY_STOPPED] },
        { "missed", total[XRAY_MISSED] },
        { "uncounted", fabs(all - counted) + fabs(all - ended) + fabs(picture - total[XRAY_DETECTED]) },
        { "unscattered", share[0] },
        { "scattered_once", share[1] },
        { "scatterings_mean", total[XRAY_SCATTERINGS] / all },
        { "cos_mean", total[XRAY_COSINES] / all * unit },
        { "cos2_mean", total[XRAY_SQUARES] / all * unit },
        { "absorbed", (double)absorbed / all * unit },
    };
    if (s->i.absorption > 0 && s->config.volume)
        BN_TRY(bn_result(results, "balance", (double)(xray_counted(s) - absorbed) * unit));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers - !(s->i.absorption > 0); i++)
        BN_TRY(bn_result(results, numbers[i].name, numbers[i].value));
    const bn_column columns[] = { { "scatterings", "", order }, { "photons", "", total }, { "share", "", share } };
    return bn_result_table(results, "orders", columns, 3, XRAY_ORDERS);
}

/* Where the beam meets the detector, for pyFAI (poni version 2.1; the first axis is the slow one). */
static bn_status describe_geometry(const xray *s, bn_results *results)
{
    const double pixel = s->config.cell_angle * s->config.distance;
    char text[512];
    snprintf(
        text, sizeof text,
        "# For pyFAI: the TIFF files of this folder\nponi_version: 2.1\nDetector: Detector\nDetector_config: "
        "{\"pixel1\": "
        "%.17g, \"pixel2\": %.17g, \"max_shape\": [%u, %u], \"orientation\": 3}\nDistance: %.17g\nPoni1: %.17g\nPoni2: "
        "%.17g\nRot1: 0.0\nRot2: 0.0\nRot3: 0.0\nWavelength: %.17g\n",
        pixel, pixel, s->config.cells[1], s->config.cells[0], s->config.distance,
        ((double)(s->config.cells[1] / 2) + 0.5) * pixel, ((double)(s->config.cells[0] / 2) + 0.5) * pixel,
        s->config.wavelength);
    return bn_result_text(results, "detector.poni", text);
}

/* The density seen along the light, from the entrance: the optical depth of each column. */
static bn_status show_density(bn_sim *sim, const xray *s, bn_results *results)
{
    const xray_volume *v = &s->volume;
    const size_t nx = v->n[0], columns = (size_t)v->n[1] * v->n[2];
    double *depth = malloc(columns * sizeof *depth);
    if (!depth)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory to draw the density");
    for (size_t c = 0; c < columns; c++) {
        depth[c] = 0;
        for (size_t i = 0; i < nx; i++)
            depth[c] += v->whole[c * nx + i];
    }
    const bn_status st = bn_result_map(
        results, &(bn_map){ .name = "density",
                            .title = "Density along the light",
                            .quantity = "optical depth",
                            .unit = "",
                            .axes = { "y", "z" },
                            .n = { v->n[1], v->n[2] },
                            .origin = { 0.5 * v->h[1] * (1 - (double)v->n[1]), 0.5 * v->h[2] * (1 - (double)v->n[2]) },
                            .h = { v->h[1], v->h[2] },
                            .values = depth,
                            .cells = true });
    free(depth);
    return st;
}

bn_status xray_measure(bn_sim *sim, void *state, bn_results *results)
{
    xray *s = state;
    const size_t cells = xray_detector_cells(s), nx = s->config.cells[0];
    bn_status st = BN_OK;
    cut c = { .count = nx };
    double *values = malloc((3 * cells + 5 * nx + 5 * (nx + s->config.cells[1])) * sizeof *values);
    bool *used = calloc(nx, sizeof *used);
    if (!values || !used)
        BN_GO(bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory to measure the picture"));
    double *intensity = values, *hits = values + cells, *fourier = hits + cells;
    c.used = used;
    c.angle = fourier + cells;
    c.measured = c.angle + nx;
    c.curve = c.measured + nx;
    c.fourier = c.curve + nx;
    c.hits = c.fourier + nx;
    BN_GO(measure_tallies(sim, s, results));
    BN_GO(bn_field_get(s->fields.intensity, intensity, cells));
    BN_GO(bn_field_get(s->fields.photons, hits, cells));
    if (xray_against_fft(s))
        BN_GO(bn_field_get(s->fields.fourier, fourier, cells));
    BN_GO(measure_cut(s, &c, intensity, hits, xray_against_fft(s) ? fourier : NULL, results));
    if (s->config.spacing == XRAY_LENGTHS) /* pyFAI knows cells of equal sides */
        BN_GO(describe_geometry(s, results));
    if (has_orders(s))
        BN_GO(measure_orders(s, intensity, hits, results));
    BN_GO(measure_rings(s, intensity, hits, c.hits + nx, results));
    BN_GO(show_density(sim, s, results));
out:
    free(values);
    free(used);
    return st;
}

bn_status xray_plan_results(const xray *s, bn_plan *p)
{
    const struct {
        bool there;
        const char *name, *unit, *help;
    } results[] = {
        { true, "photons", "", "that entered; each is detected, stopped or missed" },
        { true, "detected", "", "in a cell of the detector" },
        { true, "stopped", "", "by the beam stop" },
        { true, "missed", "", "the detector" },
        { true, "uncounted", "",
          "0: each photon has a number of scatterings, an end, and if detected a place in the picture" },
        { true, "unscattered", "", "share of all photons" },
        { true, "scattered_once", "", "share of all photons" },
        { true, "scatterings_mean", "", "number of scatterings of a photon" },
        { true, "cos_mean", "", "cosine of the angle to the entrance's normal at the end, all photons" },
        { true, "cos2_mean", "", "its square" },
        { s->i.absorption > 0, "absorbed", "", "share of all photons" },
        { s->i.absorption > 0 && s->config.volume, "balance", "",
          "photons absorbed in the cells and escaped from them, less those that entered: 0, exactly" },
        { xray_against_curve(s), "mqf", "", "mean squared error of the cut against the closed form, sums made equal" },
        { xray_against_curve(s) && s->config.estimator == XRAY_ANALOG, "mqf_expected", "",
          "what so many photons at random lead to" },
        { has_orders(s), "first_order_minus", "",
          "intensity of a grating's first order towards -y, as a share of all photons in phase" },
        { has_orders(s), "first_order_minus_sigma", "", "what it stands above the noise, in standard deviations" },
        { has_orders(s), "first_order_plus", "", "the same towards +y" },
        { has_orders(s), "first_order_plus_sigma", "", "what that stands above the noise, in standard deviations" },
        { xray_against_fft(s), "mqf_fft", "",
          "mean squared difference of the cuts through the photons' and the Fourier picture" },
        { xray_against_curve(s) && xray_against_fft(s), "fft_error", "",
          "mean squared error of the Fourier picture's cut" },
    };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].there)
            BN_TRY(bn_plan_result(p, results[i].name, results[i].unit, results[i].help));
    return BN_OK;
}
