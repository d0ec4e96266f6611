/* bpm_space.c: beams in space. P is split into what lies along x and along y, each with half of the index; a step along
 * z is a step along all lines of one direction and one along the lines across, and every second step takes them in the
 * other order (Strang 1968): second order in dz, and without absorption each of them keeps the power. Two half steps in
 * the same direction that follow each other are one launch.
 *
 * The fundamental mode comes from steps along imaginary z, which let it grow over all others: (1 + p P) psi_new = psi,
 * p = -k tau / 2 against the highest index, tau shorter and shorter, since the splitting bends the mode by a share of
 * tau. Its index is Rayleigh's quotient of the unsplit operator, in which that error enters squared. */
#include "bpm.h"

#include <math.h>
#include <string.h>

enum { RELAX_STAGES = 5, RELAX_FACTOR = 4 };

static bn_status keep(bn_plan *p, size_t count, double **out)
{
    void *memory;
    BN_TRY(bn_plan_keep(p, count * sizeof **out, &memory));
    *out = memory;
    return BN_OK;
}

static bn_status keep_pairs(bn_plan *p, size_t count, double _Complex **out)
{
    double *memory;
    BN_TRY(keep(p, 2 * count, &memory));
    *out = (double _Complex *)(void *)memory;
    return BN_OK;
}

bn_status bpm_plan_space(const bn_case *c, bn_plan *p, bpm *s)
{
    const int wish = (int)bn_case_int(c, "solver.chunk");
    if (s->tm || (s->wide_angle && s->method != BPM_FFT) || s->method == BPM_ITERATION || s->beams > 1)
        return bn_case_reject(c, "grid.cells_x", "0: a plane",
                              "in space there are one scalar beam, paraxial steps, and the direct method");
    if (s->launch == BPM_LAUNCH_MODE && s->mode != 0)
        bn_case_reject(c, "launch.mode", NULL, "in space only the fundamental mode, 0, can be found");
    if (s->launch == BPM_LAUNCH_FILE)
        bn_case_reject(c, "launch.kind", NULL, "in space a file cannot be launched");
    if (s->launch == BPM_LAUNCH_MODE && s->structures == 0 && !s->picture)
        bn_case_reject(c, "launch.kind", NULL, "there is no structure that could have a mode");
    for (int d = 0; d < 2; d++) {
        bpm_axis *a = &s->axis[d];
        const size_t points = (size_t)a->n * a->lines;
        a->chunk = wish > 0 ? wish : bpm_good_chunk(s, (int)a->n, a->h);
        a->chunks = ((int)a->n + a->chunk - 1) / a->chunk;
        a->op.n = a->n;
        BN_TRY(keep(p, 2 * points, &a->r));
        BN_TRY(keep(p, (s->lossy ? 2 : 1) * points, &a->v));
        BN_TRY(keep_pairs(p, a->n, &a->scale));
        BN_TRY(keep_pairs(p, a->n, &a->op.w));
        BN_TRY(keep_pairs(p, a->n + 1, &a->op.m));
        BN_TRY(keep_pairs(p, a->n, &a->op.index2));
    }
    s->relax_dz = bn_case_real(c, "launch.relax_dz");
    s->relax_tolerance = bn_case_real(c, "launch.relax_tolerance");
    s->relax_steps = (int)bn_case_int(c, "launch.relax_steps");
    return BN_OK;
}

static void weights(const bpm *s, double _Complex *p, double _Complex *q)
{
    if (!s->relaxing) {
        bpm_step_weights(s, 0, p, q);
        return;
    }
    const double tau = s->relax_dz * pow(RELAX_FACTOR, -s->relax_stage);
    *p = -0.5 * bpm_k0(s, 0) * s->reference * tau;
    *q = 0;
}

void bpm_make_space_section(bpm *s, size_t k)
{
    const double z = s->relaxing ? 0.5 * s->dz : ((double)k + 0.5) * s->dz, k0 = bpm_k0(s, 0);
    const bool pml = s->pml;
    const size_t v_size = s->lossy ? 2 : 1;
    double _Complex p, q;
    weights(s, &p, &q);
    s->factor[0] = creal((p - q) / p);
    s->factor[1] = cimag((p - q) / p);
    s->section_end = k + bpm_constant_steps(s, k);
    s->pml = pml && !s->relaxing; /* modes belong to the guide, not to the layers before the walls */
    for (int d = 0; d < 2; d++) {
        bpm_axis *a = &s->axis[d];
        for (size_t i = 0; i < a->n; i++)
            a->op.w[i] = 1 / bpm_stretch(s, (double)(i + 1) * a->h, a->width);
        for (size_t i = 0; i <= a->n; i++)
            a->op.m[i] = 1 / bpm_stretch(s, ((double)i + 0.5) * a->h, a->width);
        bpm_scale(&a->op, a->scale);
        a->reach = 1;
    }
    s->pml = pml;
    /* Row by row of the cross-section; a column's values are gathered in its own place of `v` first. */
    const bpm_axis *x = &s->axis[0], *y = &s->axis[1];
    for (size_t j = 0; j < y->n; j++) {
        bpm_index_row(s, z, (double)(j + 1) * y->h, x->op.index2);
        for (size_t i = 0; i < x->n; i++) {
            const double _Complex half = 0.5 * k0 * k0 * (x->op.index2[i] - s->reference * s->reference);
            x->op.index2[i] = x->h * x->h * half;
            y->r[2 * (i * y->n + j)] = y->h * y->h * creal(half);
            y->r[2 * (i * y->n + j) + 1] = y->h * y->h * cimag(half);
        }
        bpm_eliminate(&x->op, x->op.index2, x->h * x->h * k0 * k0 * s->reference * s->reference / p, x->scale, s->lossy,
                      x->r + 2 * j * x->n, x->v + v_size * j * x->n);
    }
    for (size_t i = 0; i < x->n; i++) {
        memcpy(y->op.index2, y->r + 2 * i * y->n, 2 * y->n * sizeof *y->r);
        bpm_eliminate(&y->op, y->op.index2, y->h * y->h * k0 * k0 * s->reference * s->reference / p, y->scale, s->lossy,
                      y->r + 2 * i * y->n, y->v + v_size * i * y->n);
    }
    for (int d = 0; d < 2; d++) {
        bpm_axis *a = &s->axis[d];
        for (size_t line = 0; line < a->lines; line++) {
            const int reach = bpm_reach(a->r + 2 * line * a->n, a->n, a->chunk, s->single);
            a->reach = reach > a->reach ? reach : a->reach;
        }
    }
}

static double norm2(const double *field, size_t points)
{
    double sum = 0;
    for (size_t i = 0; i < 2 * points; i++)
        sum += field[i] * field[i];
    return sum;
}

bn_status bpm_start_space(const bn_case *c, bpm *s)
{
    const size_t nx = s->n, points = nx * s->rows;
    const bool guess = s->launch == BPM_LAUNCH_MODE;
    const double middle_x = bn_case_real(c, "launch.centre_x"), k = bpm_k0(s, 0) * s->background;
    const double x0 = middle_x >= 0 ? middle_x : 0.5 * s->axis[0].width;
    double place_x = x0, place_y = s->centre, waist = s->waist;
    if (guess && s->structures > 0) { /* a spot on the first guide grows into its mode */
        place_x = s->structure[0].centre_x;
        place_y = s->structure[0].centre;
        waist = s->structure[0].width;
        s->centre = place_y;
    }
    for (size_t j = 0; j < s->rows; j++)
        for (size_t i = 0; i < nx; i++) {
            const double x = (double)(i + 1) * s->axis[0].h - place_x, y = (double)(j + 1) * s->h - place_y;
            const bool plane = s->launch == BPM_LAUNCH_PLANE;
            const double size = plane ? 1 : exp(-(x * x + y * y) / (waist * waist));
            const double turn = guess ? 0 : -k * sin(s->tilt) * y;
            double *at = s->start_field + 2 * (j * nx + i);
            at[0] = size < 1e-30 ? 0 : size * cos(turn);
            at[1] = size < 1e-30 ? 0 : size * sin(turn);
        }
    s->start_power[0] = norm2(s->start_field, points);
    s->mode_index[0] = s->theory[0] = s->relax_index = (double)NAN;
    if (!(s->start_power[0] > 0))
        return bn_case_reject(c, "launch.centre", NULL, "the field that enters vanishes on the whole grid");
    s->relaxing = guess;
    s->relax_stage = 0;
    if (s->relaxing)
        s->reference = fmax(s->background, bpm_highest_index(s));
    else if (s->reference == 0)
        s->reference = s->background;
    return BN_OK;
}

double bpm_rayleigh(const bpm *s)
{
    const size_t nx = s->n, ny = s->rows;
    const double k0 = bpm_k0(s, 0), cx = 1 / (s->axis[0].h * s->axis[0].h * k0 * k0);
    const double cy = 1 / (s->h * s->h * k0 * k0);
    const double *f = s->field;
    double sum = 0, size = 0;
    for (size_t j = 0; j < ny; j++) {
        bpm_index_row(s, 0.5 * s->dz, (double)(j + 1) * s->h, s->axis[0].op.index2);
        for (size_t i = 0; i < nx; i++)
            for (size_t part = 0; part < 2; part++) {
                const size_t at = 2 * (j * nx + i) + part;
                const double here = f[at], west = i > 0 ? f[at - 2] : 0, east = i + 1 < nx ? f[at + 2] : 0;
                const double south = j > 0 ? f[at - 2 * nx] : 0, north = j + 1 < ny ? f[at + 2 * nx] : 0;
                sum += here * (cx * ((east - here) - (here - west)) + cy * ((north - here) - (here - south)) +
                               creal(s->axis[0].op.index2[i]) * here);
                size += here * here;
            }
    }
    return sqrt(fmax(sum, 0) / size);
}

/* sum conj(a) b over the cross-section */
static double _Complex inner(const double *a, const double *b, size_t points)
{
    double re = 0, im = 0;
    for (size_t i = 0; i < points; i++) {
        re += a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
        im += a[2 * i] * b[2 * i + 1] - a[2 * i + 1] * b[2 * i];
    }
    return CMPLX(re, im);
}

static double square(double _Complex a) { return creal(a) * creal(a) + cimag(a) * cimag(a); }

void bpm_look_space(const bpm *s, bpm_state *out)
{
    const size_t nx = s->n, points = nx * s->rows;
    const double own = s->start_power[0];
    double power = 0, x1 = 0, x2 = 0, y1 = 0, y2 = 0, most = 0;
    *out = (bpm_state){
        .z = (double)s->done * s->dz, .mirror = (double)NAN, .mode = (double)NAN, .phase = (double)NAN
    };
    for (size_t j = 0; j < s->rows; j++)
        for (size_t i = 0; i < nx; i++) {
            const double *at = s->field + 2 * (j * nx + i), here = at[0] * at[0] + at[1] * at[1];
            const double x = (double)(i + 1) * s->axis[0].h, y = (double)(j + 1) * s->h;
            power += here;
            x1 += here * x;
            x2 += here * x * x;
            y1 += here * y;
            y2 += here * y * y;
            most = here > most ? here : most;
            for (size_t k = 0; k < s->ports; k++)
                out->port[k] += here / own *
                                fmax(0, fmin(s->port_to[k], y + 0.5 * s->h) - fmax(s->port_from[k], y - 0.5 * s->h)) /
                                s->h;
        }
    out->power = power / own;
    out->peak = most;
    out->centre_x = x1 / power;
    out->centre = y1 / power;
    out->width_x = 2 * sqrt(fmax(0, x2 / power - out->centre_x * out->centre_x));
    out->width = 2 * sqrt(fmax(0, y2 / power - out->centre * out->centre));
    out->start = square(inner(s->start_field, s->field, points)) / (own * own);
    if (isfinite(s->mode_index[0])) {
        const double _Complex overlap = inner(s->mode_field, s->field, points);
        out->mode = square(overlap) / (s->mode_power[0] * own);
        out->phase = remainder(carg(overlap) - fmod((double)s->done * s->theory[0], 2 * 3.14159265358979323846),
                               2 * 3.14159265358979323846);
    }
}

bn_status bpm_relax(bn_sim *sim, bpm *s, const bpm_marcher *marcher, bn_step *out)
{
    const size_t points = (size_t)s->n * s->rows;
    bpm_make_space_section(s, 0);
    BN_TRY(marcher->section(sim, s));
    BN_TRY(marcher->march(sim, s, (size_t)s->relax_steps));
    BN_TRY(bpm_fetch(s));
    double most = 0;
    for (size_t i = 0; i < points; i++)
        most = fmax(most, hypot(s->field[2 * i], s->field[2 * i + 1]));
    if (!isfinite(most) || most == 0)
        return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                       "the search for the mode failed; try a smaller launch.relax_dz");
    for (size_t i = 0; i < 2 * points; i++)
        s->field[i] /= most;
    const double index = bpm_rayleigh(s);
    s->relax_change = fabs(index - s->relax_index);
    s->relax_index = index;
    if (s->relax_change < s->relax_tolerance && ++s->relax_stage == RELAX_STAGES) {
        if (index <= s->background * (1 + 1e-9))
            return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                           "the structure guides no mode: the index found is %.8f, not above the %.8f around it", index,
                           s->background);
        /* From here on the mode is launched. */
        memcpy(s->mode_field, s->field, 2 * points * sizeof *s->field);
        memcpy(s->start_field, s->field, 2 * points * sizeof *s->field);
        s->start_power[0] = s->mode_power[0] = norm2(s->field, points);
        s->mode_index[0] = index;
        s->reference = bn_case_real(bn_sim_case(sim), "material.reference_index");
        s->reference = s->reference > 0 ? s->reference : index;
        const double P = (index / s->reference - 1) * (index / s->reference + 1);
        double _Complex p, q;
        bpm_step_weights(s, 0, &p, &q);
        s->theory[0] = carg((1 + q * P) / (1 + p * P));
        s->relaxing = false;
        s->section_end = 0;
        bpm_make_space_section(s, 0); /* its scaling is the field's from now on */
        s->section_end = 0;
        s->records = 0;
        BN_TRY(bpm_put(s));
        BN_TRY(bpm_keep_record(sim, s));
    } else {
        BN_TRY(bpm_put(s));
    }
    *out = (bn_step){ .residual = s->relax_change };
    out->series[7] = s->relax_index;
    return BN_OK;
}
