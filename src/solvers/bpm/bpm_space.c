/* bpm_space.c: a beam in space. P is split into its parts along x and along y, each with half of the index; a step
 * along z is a half step along all lines of one direction and one along the lines across, and every second step takes
 * them in the other order (Strang 1968): second order in dz, and without absorption each half step keeps the power. Two
 * half steps in the same direction that follow each other are one launch.
 *
 * The fundamental mode comes from steps along imaginary z, which let it grow over all others: (1 + p P) psi_new = psi,
 * p = -k tau / 2 against the highest index, tau shorter and shorter, since the splitting changes the mode by a share
 * proportional to tau. Its index is Rayleigh's quotient of the unsplit operator, in which that error enters squared. */
#include "api/parallel_rows.h"
#include "api/transpose.h"
#include "bpm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RELAX_STAGES = 5, RELAX_FACTOR = 4 };
/* The field that grows into the mode is divided by its largest value once that is so far from 1, and at the end. */
static const double RELAX_RANGE = 1e3;

/* Chunks that pieces of lines need beyond their own. What is wrong at the end of a piece comes `reach` chunks inwards
 * in a half step, and one more, whose first node the next half step has beside it. Two half steps are taken between two
 * exchanges. */
static int overlap_of(const bpm_axis *a)
{
    const int wanted = 2 * (a->reach + 1);
    return wanted < a->chunks ? wanted : a->chunks;
}

/* What setup_axis makes. */
static bn_status plan_memory(bn_plan *p, const bpm *s, int d)
{
    const bpm_axis *a = &s->axis[d];
    const bn_grid lines = { .dims = 2, .n = { a->n, a->lines, 1 }, .h = { 1, 1, 1 }, .nodes = true };
    /* r, v, psi, work; where lines are cut also messages, out and in. */
    const bn_type made[] = { BN_T_REAL2, s->c.lossy ? BN_T_REAL2 : BN_T_REAL, BN_T_REAL2, BN_T_REAL2, BN_T_REAL2,
                             BN_T_REAL2 };
    for (int i = 0; i < (d == 0 ? 2 : 4); i++) /* psi and work along x are fields of the plan */
        BN_TRY(bn_plan_more_memory(p, &lines, made[i], false));
    bn_grid beyond = lines;
    beyond.n[0] = 2 * (uint32_t)a->overlap * (uint32_t)a->chunk; /* on both sides */
    beyond.n[0] = beyond.n[0] < a->n ? beyond.n[0] : a->n;
    for (int i = 0; d == 1 && i < 6; i++)
        BN_TRY(bn_plan_more_memory(p, &beyond, made[i], true));
    return BN_OK;
}

typedef struct start_power {
    const bpm *s;
    double *row; /* the power of each */
} start_power;

static void sum_start(void *user, size_t begin, size_t end)
{
    const start_power *p = user;
    for (size_t j = begin; j < end; j++)
        p->row[j] = bpm_start_row(p->s, (uint32_t)j, NULL);
}

static bn_status make_start(const bn_case *c, bn_plan *p, bpm *s)
{
    const bool counted = bn_plan_only_counts(p, (double)s->c.n * s->c.rows);
    const bool guess = s->launch.kind == BPM_LAUNCH_MODE;
    const double middle_x = bn_case_real(c, "launch.centre_x");
    const bpm_structure *guide = &s->profile.structure[0];
    bpm_space *m = &s->space;
    double power = 0;
    m->spot[0] = middle_x >= 0 ? middle_x : 0.5 * s->axis[0].width;
    m->spot[1] = s->launch.centre + s->beam[0].offset;
    m->spot_waist = s->launch.waist;
    if (guess && s->profile.structures > 0) { /* a spot on the first guide grows into its mode */
        m->spot[0] = guide->centre_x;
        m->spot[1] = s->launch.centre = guide->centre;
        m->spot_waist = guide->width;
    }
    if (!counted) {
        start_power of = { s, malloc(s->c.rows * sizeof *of.row) };
        if (!of.row)
            return bn_fail(bn_plan_context(p), BN_MEMORY, "no memory for sums of %u rows", s->c.rows);
        bn_parallel_rows(s->c.rows, 8 * s->c.n, sum_start, &of); /* exp, sine and cosine for each node */
        for (uint32_t j = 0; j < s->c.rows; j++)
            power += of.row[j];
        free(of.row);
    }
    s->beam[0].start_power = power;
    s->beam[0].n_eff = s->beam[0].phase = m->relax_index = (double)NAN;
    if (!counted && !(power > 0))
        return bn_case_reject(c, "launch.centre", NULL, "the field that enters vanishes on the whole grid");
    m->relaxing = guess;
    m->relax_stage = 0;
    if (guess)
        s->c.reference = fmax(s->c.background, bpm_highest_index(&s->profile) + fmax(0, s->beam[0].index));
    else if (s->c.reference == 0)
        s->c.reference = s->c.background;
    return BN_OK;
}

static void weights(const bpm *s, double _Complex *p, double _Complex *q)
{
    if (!s->space.relaxing) {
        bpm_step_weights(s, 0, p, q);
        return;
    }
    const double tau = s->space.relax_dz * pow(RELAX_FACTOR, -s->space.relax_stage);
    *p = -0.5 * bpm_k0(s, 0) * s->c.reference * tau;
    *q = 0;
}

static bn_status plan(const bn_case *c, bn_plan *p, bpm *s)
{
    if (s->c.tm || (s->c.wide_angle && s->c.solver != BPM_FFT) || s->c.beams > 1)
        return bn_case_reject(c, "grid.cells_x", "0: a plane",
                              "in space there is one scalar beam, and by elimination steps are paraxial");
    if (s->launch.kind == BPM_LAUNCH_MODE && s->launch.mode != 0)
        bn_case_reject(c, "launch.mode", NULL, "in space only the fundamental mode, 0, can be found");
    if (s->launch.kind == BPM_LAUNCH_FILE)
        bn_case_reject(c, "launch.kind", NULL, "in space a file cannot be launched");
    if (s->launch.kind == BPM_LAUNCH_MODE && s->profile.structures == 0 && s->profile.picture_width == 0)
        bn_case_reject(c, "launch.kind", NULL, "there is no structure that could have a mode");
    for (int d = 0; d < 2; d++) {
        bpm_axis *a = &s->axis[d];
        BN_TRY(bpm_allocate_pairs(p, a->n, &a->scale));
        BN_TRY(bpm_allocate_operator(p, a));
        void *memory;
        BN_TRY(bn_plan_allocate(p, a->lines * sizeof *a->line_reach, &memory));
        a->line_reach = memory;
    }
    s->space.relax_dz = bn_case_real(c, "launch.relax_dz");
    s->space.relax_tolerance = bn_case_real(c, "launch.relax_tolerance");
    s->space.relax_steps = (int)bn_case_int(c, "launch.relax_steps");
    BN_TRY(make_start(c, p, s));
    for (int d = 0; s->c.solver == BPM_DIRECT && d < 2; d++) {
        bpm_axis *a = &s->axis[d];
        double _Complex of_new, of_old;
        weights(s, &of_new, &of_old);
        a->reach = bpm_guess_reach(s, a, of_new);
        a->overlap = overlap_of(a);
        BN_TRY(plan_memory(p, s, d));
    }
    return BN_OK;
}

/* The fields of the cross-section. What the steps need beside psi lies in fields of each direction's own. */
static bn_status plan_fields(bn_plan *p, bpm *s)
{
    const bool guides = s->profile.structures > 0 || s->profile.picture_width > 0;
    BN_TRY(bn_plan_grid(p, &(bn_grid){ .dims = 2,
                                       .n = { s->c.n, s->c.rows, 1 },
                                       .h = { s->axis[0].h, s->c.h, 1 },
                                       .origin = { s->axis[0].h, s->c.h },
                                       .nodes = true }));
    BN_TRY(bpm_plan_psi(p, s));
    /* A mode that was sought is kept in checkpoints; anything else is made anew. */
    const unsigned kept = s->launch.kind == BPM_LAUNCH_MODE ? BN_STATE : 0;
    BN_TRY(bn_plan_field(p, &s->space.start, &(bn_field_desc){ "start", "", BN_T_REAL2, 1, kept }));
    BN_TRY(bn_plan_field(p, &s->space.intensity, &(bn_field_desc){ "intensity", "", BN_T_REAL, 1, BN_OUTPUT }));
    BN_TRY(bn_plan_field(p, &s->space.index, &(bn_field_desc){ "index", "", BN_T_REAL, 1, BN_OUTPUT }));
    bn_plan_whole_rows(p);
    BN_TRY(bpm_plan_row_sums(p, s));
    if (s->c.solver == BPM_FFT) {
        BN_TRY(bpm_plan_fft_fields(p, s));
    } else {
        /* The overlap crosses once in two steps, of which one solves the pieces of lines that have it. */
        const double overlap = (double)s->axis[1].overlap * s->axis[1].chunk;
        bn_plan_scales(p, &(bn_plan_scaling){ .rate = 45e9,
                                              .along = 1,
                                              .exchanges = 0.5,
                                              .bytes = 8 * overlap,
                                              .face = 80e-6,
                                              .overlap = 0.5 * overlap });
        BN_TRY(bn_plan_skip_kernel(p, "bpm_crank_nicolson"));
        BN_TRY(bpm_plan_constants(p, s));
        BN_TRY(bpm_plan_one_launch(p, s));
        BN_TRY(bn_plan_choice(p, "steps along z by", "elimination along x and y"));
    }
    return bn_plan_picture(p, &(bn_picture_desc){ .name = "cross-section",
                                                  .field = "intensity",
                                                  .title = "Intensity across the beam",
                                                  .quantity = "|E|²",
                                                  .map = BN_PICTURE_SEQUENTIAL,
                                                  .contour_field = guides ? "index" : NULL,
                                                  .contour_quantity = "refractive index",
                                                  .contour_outlines = true,
                                                  .contour_levels = guides ? &s->profile.outline : NULL,
                                                  .contour_count = guides });
}

static bn_status plan_results(bn_plan *p)
{
    BN_TRY(bn_plan_result(p, "centre_x", "m", "mean place of the intensity along x"));
    BN_TRY(bn_plan_result(p, "beam_width_x", "m", "twice its rms width along x"));
    return bn_plan_series(p, "n_eff", "");
}

static bn_status results(bpm *s, const bpm_record *end, bn_results *out)
{
    (void)s;
    BN_TRY(bn_result(out, "centre_x", end->centre_x));
    return bn_result(out, "beam_width_x", end->width_x);
}

static bn_status launch(bpm *s) { return bpm_launch_space(s, true); }

static void row_index(const bpm *s, double z, uint32_t j, double _Complex *out)
{
    bpm_index_row(s, z, (double)(j + 1) * s->c.h, 0, s->c.n, out);
}

/* The highest index along x. */
static void outline(const bpm *s, double z, double _Complex *row, double *out)
{
    for (uint32_t j = 0; j < s->c.rows; j++) {
        row_index(s, z, j, row);
        out[j] = 0;
        for (size_t i = 0; i < s->c.n; i++)
            out[j] = fmax(out[j], creal(csqrt(row[i])));
    }
}

const bpm_geometry bpm_space_geometry = { .plan = plan,
                                          .plan_fields = plan_fields,
                                          .plan_results = plan_results,
                                          .launch = launch,
                                          .observe = bpm_observe_space,
                                          .results = results,
                                          .update_outputs = bpm_update_space,
                                          .row_index = row_index,
                                          .outline = outline,
                                          .map_quantity = "mean of |E|² along x" };

/* --- sections --- */

static void scale_axes(bpm *s, bool layers)
{
    if (s->space.scaled && s->space.scaled_for_layers == layers)
        return;
    for (int d = 0; d < 2; d++) {
        bpm_axis *a = &s->axis[d];
        for (size_t i = 0; i < a->n; i++)
            a->op.w[i] = layers ? 1 / bpm_stretch(s, (double)(i + 1) * a->h, a->width) : 1;
        for (size_t i = 0; i <= a->n; i++)
            a->op.m[i] = layers ? 1 / bpm_stretch(s, ((double)i + 0.5) * a->h, a->width) : 1;
        bpm_scale(&a->op, a->scale);
    }
    s->space.scaled = true;
    s->space.scaled_for_layers = layers;
}

void bpm_space_prepare(bpm *s, size_t k)
{
    double _Complex p, q;
    weights(s, &p, &q);
    s->factor[0] = creal((p - q) / p);
    s->factor[1] = cimag((p - q) / p);
    s->space.section_z = s->space.relaxing ? 0.5 * s->c.dz : ((double)k + 0.5) * s->c.dz;
    s->space.section_p = p;
    s->section_end = k + bpm_constant_steps(s, k);
    scale_axes(s, s->c.pml && !s->space.relaxing); /* modes belong to the guide, not to the layers before the walls */
}

/* Half of the index term at the nodes [first, first + count) along x of row j, times the square of h. */
static void own_terms(const bpm *s, uint32_t j, uint32_t first, uint32_t count, double h, double _Complex *out)
{
    const double k0 = bpm_k0(s, 0);
    bpm_index_row(s, s->space.section_z, (double)(j + 1) * s->axis[1].h, first, count, out);
    for (size_t i = 0; i < count; i++)
        out[i] = h * h * (0.5 * k0 * k0 * (out[i] - s->c.reference * s->c.reference));
}

typedef struct line_work {
    const bpm *s;
    int d;
    uint32_t first, count; /* lines */
    double *r, *v;
    double _Complex q0;
} line_work;

/* Lines along y gather their terms from rows of the cross-section, in their own places of r. */
static void gather_terms(void *user, size_t begin, size_t end)
{
    enum { SOME = 256 };
    const line_work *w = user;
    const size_t n = w->s->axis[1].n;
    double _Complex terms[SOME];
    for (size_t j = begin; j < end; j++)
        for (uint32_t from = 0; from < w->count; from += SOME) {
            const uint32_t some = w->count - from < SOME ? w->count - from : SOME;
            own_terms(w->s, (uint32_t)j, w->first + from, some, w->s->axis[1].h, terms);
            for (size_t i = 0; i < some; i++) {
                w->r[2 * ((from + i) * n + j)] = creal(terms[i]);
                w->r[2 * ((from + i) * n + j) + 1] = cimag(terms[i]);
            }
        }
}

static void eliminate_lines(void *user, size_t begin, size_t end)
{
    const line_work *w = user;
    const bpm_axis *a = &w->s->axis[w->d];
    const size_t n = a->n, v_size = w->s->c.lossy ? 2 : 1;
    for (size_t line = begin; line < end; line += BPM_LINES_AT_ONCE) { /* which then are in the cache */
        const size_t some = end - line < BPM_LINES_AT_ONCE ? end - line : BPM_LINES_AT_ONCE;
        double *r = w->r + 2 * line * n;
        for (size_t l = 0; w->d == 0 && l < some; l++)
            own_terms(w->s, w->first + (uint32_t)(line + l), 0, a->n, a->h, (double _Complex *)(void *)(r + 2 * l * n));
        bpm_eliminate(&a->op, some, w->q0, w->s->c.lossy, r, w->v + v_size * line * n);
        for (size_t l = 0; l < some; l++)
            a->line_reach[w->first + line + l] = bpm_reach(w->s, a, r + 2 * l * n);
    }
}

void bpm_space_lines(bpm *s, int d, uint32_t first, uint32_t count, double *r, double *v)
{
    bpm_axis *a = &s->axis[d];
    const double k0 = bpm_k0(s, 0);
    line_work w = { .s = s, .d = d, .first = first, .count = count, .r = r, .v = v };
    w.q0 = a->h * a->h * k0 * k0 * s->c.reference * s->c.reference / s->space.section_p;
    if (d == 1)
        bn_parallel_rows(a->n, (size_t)BPM_VALUES_A_NODE * count, gather_terms, &w);
    bn_parallel_rows(count, (size_t)BPM_VALUES_A_NODE * a->n, eliminate_lines, &w);
}

void bpm_space_reach(bpm *s, int d)
{
    bpm_axis *a = &s->axis[d];
    a->reach = 1;
    for (uint32_t line = 0; line < a->lines; line++)
        a->reach = a->line_reach[line] > a->reach ? a->line_reach[line] : a->reach;
}

/* --- the mode --- */

bn_status bpm_relax(bn_sim *sim, bpm *s, bn_step *out)
{
    double index, power;
    s->section_begin = 0;
    BN_TRY(s->method->section(sim, s, true));
    BN_TRY(s->method->propagate(s, &(bpm_steps){ 0, (size_t)s->space.relax_steps, true }));
    BN_TRY(bpm_rayleigh(sim, s, &index, &power));
    if (!isfinite(index) || !isfinite(s->space.largest))
        BN_TRY(bpm_check_meetings(s));
    if (!isfinite(index) || !isfinite(s->space.largest) || s->space.largest == 0)
        return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                       "the search for the mode failed; try a smaller launch.relax_dz");
    s->space.relax_change = fabs(index - s->space.relax_index);
    s->space.relax_index = index;
    const bool found = s->space.relax_change < s->space.relax_tolerance && ++s->space.relax_stage == RELAX_STAGES;
    if (found || s->space.largest < 1 / RELAX_RANGE || s->space.largest > RELAX_RANGE)
        BN_TRY(bpm_normalize(s));
    if (found) {
        if (index <= s->c.background * (1 + 1e-9))
            return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                           "the structure guides no mode: the index found is %.8f, not above the %.8f around it", index,
                           s->c.background);
        /* From here on the mode is launched. */
        s->beam[0].start_power = s->beam[0].mode_power = power;
        s->beam[0].n_eff = index;
        s->c.reference = bn_case_real(bn_sim_case(sim), "material.reference_index");
        s->c.reference = s->c.reference > 0 ? s->c.reference : index;
        s->beam[0].phase = bpm_step_phase(s, 0, index);
        s->space.relaxing = false;
        bpm_space_prepare(s, 0); /* its scaling is the field's from now on */
        s->section_end = 0;
        s->history.records = 0;
        BN_TRY(bpm_launch_space(s, false));
        BN_TRY(bpm_add_record(s));
    }
    *out = (bn_step){ .residual = s->space.relax_change,
                      .updates = s->space.relax_steps * (double)bn_domain_points(bn_sim_domain(sim)) };
    out->series[6] = s->space.relax_index;
    return BN_OK;
}

/* --- steps on a device: lines along x are rows of the simulation's grid, lines along y of its transpose. On several
 * each has whole lines along x, and a piece of every line along y that overlaps the next one --- */

/* The grid of the lines along y, and their longest piece. */
static bn_status cut_lines(bn_sim *sim, bpm_axis *y)
{
    y->overlap = overlap_of(y);
    BN_TRY(bn_domain_transposed(bn_sim_domain(sim), (uint32_t)y->chunk, (uint32_t)y->overlap, &y->domain));
    y->piece = 0;
    for (size_t b = 0; b < bn_domain_boxes(y->domain); b++) {
        bn_region box;
        bn_domain_box(y->domain, b, &box);
        y->piece = box.n[0] > y->piece ? box.n[0] : y->piece;
    }
    return BN_OK;
}

static bn_status make_fields(bpm *s, int d)
{
    bpm_axis *a = &s->axis[d];
    const bn_type v = s->c.lossy ? BN_T_REAL2 : BN_T_REAL;
    if (d == 1) {
        BN_TRY(bn_field_create(a->domain, &(bn_field_desc){ .name = "psi of lines", .type = BN_T_REAL2 }, &a->psi));
        BN_TRY(bn_field_create(a->domain, &(bn_field_desc){ .name = "work of lines", .type = BN_T_REAL2 }, &a->work));
    } else {
        a->psi = s->psi;
        a->work = s->work;
    }
    BN_TRY(bn_field_create(a->domain, &(bn_field_desc){ .name = "r of lines", .type = BN_T_REAL2 }, &a->r_field));
    return bn_field_create(a->domain, &(bn_field_desc){ .name = "v of lines", .type = v }, &a->v_field);
}

/* The domains of both axes are there: kernels of one know the place of the other. */
static bn_status build_half_step(bpm *s, int d)
{
    static const bn_kernel_desc half_step = { "bpm_half_step", BN_PER_ROWS, { .reads = 5, .writes = 2, .flops = 60 } };
    bpm_axis *a = &s->axis[d];
    bn_define defines[BPM_KERNEL_CONSTANTS];
    bpm_kernel_constants(s, d, bn_device_describe(bn_domain_device(a->domain)), defines);
    BN_TRY(bn_program_build(a->domain, "bpm+bpm_lanes", defines, BPM_KERNEL_CONSTANTS, &a->program));
    return bn_kernel_find(a->program, &half_step, &a->kernel);
}

static bn_status setup(bn_sim *sim, bpm *s)
{
    s->axis[0].domain = bn_sim_domain(sim);
    BN_TRY(cut_lines(sim, &s->axis[1]));
    for (int d = 0; d < 2; d++)
        BN_TRY(make_fields(s, d));
    BN_TRY(bpm_one_launch_setup(s));
    for (int d = 0; !s->space.steps && d < 2; d++)
        BN_TRY(build_half_step(s, d));
    return BN_OK;
}

static void drop_axis(bpm_axis *a, int d)
{
    bn_program_destroy(&a->program);
    bn_field_destroy(&a->r_field);
    bn_field_destroy(&a->v_field);
    if (d == 1)
        bn_field_destroy(&a->work);
}

static void drop_pieces(bn_domain **domain, bn_field **psi)
{
    bn_field_destroy(psi);
    bn_domain_destroy(domain);
}

static void teardown(bpm *s)
{
    bpm_one_launch_teardown(s);
    for (int d = 1; d >= 0; d--)
        drop_axis(&s->axis[d], d);
    drop_pieces(&s->axis[1].domain, &s->axis[1].psi);
}

/* Other pieces of lines along y. psi goes when the new one is there, so that its memory is not taken for the same. */
static bn_status cut_again(bn_sim *sim, bpm *s)
{
    bpm_axis *y = &s->axis[1];
    bn_domain *domain = y->domain;
    bn_field *psi = y->psi;
    drop_axis(y, 1);
    y->domain = NULL;
    y->psi = NULL;
    bn_status st = cut_lines(sim, y);
    if (st == BN_OK)
        st = make_fields(s, 1);
    if (st == BN_OK)
        st = build_half_step(s, 1);
    drop_pieces(&domain, &psi);
    return st;
}

static bn_status run_half_steps(const bpm *s, int d, bn_arg to, bpm_store store, int count)
{
    const bpm_axis *a = &s->axis[d];
    const bn_arg psi = BN_UPDATE(a->psi);
    return BN_RUN(a->kernel, psi, BN_READ(a->r_field, 0), BN_READ(a->v_field, 0), BN_UPDATE(a->work), to,
                  BN_SIZES(s->axis[!d].domain), BN_I32V(store), BN_REALV(s->factor[0]), BN_REALV(s->factor[1]),
                  BN_I32V(a->reach), BN_I32V(count));
}

/* `count` half steps along the lines of direction d. */
static bn_status half_steps(const bpm *s, int d, int count, bpm_store store)
{
    const bpm_axis *a = &s->axis[d];
    if (s->space.steps)
        return bpm_run_passes(s, &(bpm_passes){ d, 1, count, count, store });
    const bn_arg here = BN_UPDATE(a->psi), there = BN_WRITE_TRANSPOSED(s->axis[!d].psi);
    size_t most;
    BN_TRY(bpm_launch_steps(a, BN_BLOCK_NY, (size_t)count, &most));
    for (; count > (int)most; count -= (int)most)
        BN_TRY(run_half_steps(s, d, here, BPM_IN_PLACE, (int)most));
    return run_half_steps(s, d, store == BPM_IN_PLACE ? here : there, store, count);
}

/* x, y y, x x, ..., and the last one alone. psi stays with the lines that the next step begins with; when it is
 * observed it is with those along x, too. So pieces of lines along y, which turning makes equal where they overlap,
 * take two half steps until they are turned again, wherever calls begin and end. */
static bn_status propagate(bpm *s, const bpm_steps *steps)
{
    int d = bpm_begins_along_y(steps->first);
    if (s->space.steps) {
        const bool ends_along_y = (d + steps->count) % 2 == 1;
        return bpm_run_passes(
            s, &(bpm_passes){ d, steps->count + 1, 1, 1, steps->observed && ends_along_y ? BPM_BOTH : BPM_IN_PLACE });
    }
    BN_TRY(half_steps(s, d, 1, BPM_TRANSPOSED));
    d = !d;
    for (size_t k = 1; k < steps->count; k++, d = !d)
        BN_TRY(half_steps(s, d, 2, BPM_TRANSPOSED));
    return half_steps(s, d, 1, steps->observed && d == 1 ? BPM_BOTH : BPM_IN_PLACE);
}

typedef struct lines {
    bpm *s;
    int d;
} lines;

static bn_status make_lines(void *user, uint32_t first, uint32_t count, double *const *values)
{
    const lines *l = user;
    bpm_space_lines(l->s, l->d, first, count, values[0], values[1]);
    return BN_OK;
}

/* Those of the stale lines. */
static bn_status make_matrices(bn_sim *sim, bpm *s, int d)
{
    bpm_axis *a = &s->axis[d];
    lines l = { s, d };
    const bn_row_band rows[] = { { a->r_field, false, true }, { a->v_field, false, true } };
    BN_TRY(bpm_make_stale(a, rows, 2, make_lines, &l));
    bpm_space_reach(s, d);
    double reach = a->reach; /* of the lines that were made here */
    bn_context_agree(bn_sim_context(sim), &reach, 1);
    a->reach = (int)reach;
    return BN_OK;
}

/* Of both directions. */
static bn_status make_stale_matrices(bn_sim *sim, bpm *s)
{
    bpm_made_for *made = &s->space.made;
    const bpm_made_for now = { true, s->space.section_z, s->c.reference, s->space.section_p };
    const bool same = made->any && made->reference == now.reference && made->p == now.p;
    for (int d = 0; d < 2; d++)
        bpm_mark_stale(s, d, made, same, now.z);
    *made = now;
    for (int d = 0; d < 2; d++)
        BN_TRY(make_matrices(sim, s, d));
    return BN_OK;
}

/* Whether pieces of lines along y overlap by enough, and not by far too much, as after the search for a mode. */
static bool fits(const bpm_axis *a)
{
    const int wanted = overlap_of(a);
    return bn_domain_boxes(a->domain) == 1 || (wanted <= a->overlap && a->overlap <= 2 * wanted);
}

static bn_status section(bn_sim *sim, bpm *s, bool entered)
{
    bpm_axis *y = &s->axis[1];
    bool along_y = entered && bpm_begins_along_y(s->done); /* where psi is */
    bpm_space_prepare(s, s->section_begin);
    BN_TRY(make_stale_matrices(sim, s));
    if (!fits(y)) {
        if (along_y) /* no half step, but transposed */
            BN_TRY(half_steps(s, 1, 0, BPM_TRANSPOSED));
        along_y = false;
        BN_TRY(cut_again(sim, s));
        bpm_mark_stale(s, 1, &s->space.made, false, s->space.section_z);
        BN_TRY(make_matrices(sim, s, 1));
    }
    /* Checkpoints have psi along x; a step that begins along y needs it there. */
    return !along_y && bpm_begins_along_y(s->done) ? half_steps(s, 0, 0, BPM_TRANSPOSED) : BN_OK;
}

const bpm_method bpm_space_method = {
    .setup = setup, .teardown = teardown, .prepare = bpm_space_prepare, .section = section, .propagate = propagate
};
