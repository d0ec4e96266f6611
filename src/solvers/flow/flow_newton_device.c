/* flow_newton_device.c: what flow_newton.c asks of a device: launches of the kernels of kernels/flow_krylov.cl, and of
 * kernels/flow_newton.cl. */
#include "flow.h"

/* Work-groups for each block of products of vectors, and work-items of a block: small grids have few blocks. */
enum { DOT_LAYERS = 16, BLOCK_ITEMS = 1024 };
/* Kernels of flow_krylov.cl that there are without elimination. */
enum { OF_GMRES = 8 };
/* Pivots that are eliminated at once (flow_krylov.cl); so many times between two waits for the device, whose queue has
 * room for so many launches only. */
enum { PANEL = 16, PANELS = 256 };

/* Kernels for flow with and without temperature have the same arguments; those of no temperature are not read. */
static bn_field *heat_or(const flow *s, bn_field *T, bn_field *other) { return s->config.a > 0 ? T : other; }

bn_status flow_newton_setup(bn_sim *sim, flow *s)
{
    flow_newton *w = &s->newton;
    bn_domain *d = bn_sim_domain(sim);
    static const bn_kernel_desc descs[] = {
        { "flow_newton_normalise", BN_PER_BLOCK, { .reads = 1.5, .writes = 1, .flops = 1 } },
        { "flow_newton_dots", BN_PER_BLOCK, { .reads = 50, .writes = 0, .flops = 100 } },
        { "flow_newton_column", BN_PER_BLOCK, { 0, 0, 0 } },
        { "flow_newton_project", BN_PER_BLOCK, { .reads = 50, .writes = 1, .flops = 100 } },
        { "flow_newton_combine", BN_PER_BLOCK, { .reads = 100, .writes = 1, .flops = 200 } },
        { "flow_newton_walls", BN_PER_CELL, { .reads = 0.5, .writes = 1, .flops = 0 } },
        { "flow_newton_update", BN_PER_CELL, { .reads = 2, .writes = 1, .flops = 2 } },
        { "flow_newton_predict", BN_PER_CELL, { .reads = 2, .writes = 2, .flops = 3 } },
        { "flow_newton_unit", BN_PER_CELL, { .reads = 0, .writes = 2, .flops = 0 } },
        { "flow_newton_rows", BN_PER_CELL, { .reads = 2, .writes = 2, .flops = 5 } },
        { "flow_newton_panel", BN_ONCE, { 0, 0, 0 } },
        { "flow_newton_strips", BN_PER_CELL, { 0, 0, 0 } },
        { "flow_newton_eliminate", BN_PER_CELL, { .reads = 8, .writes = 4, .flops = 16 * PANEL } },
        { "flow_newton_substitute", BN_ONCE, { 0, 0, 0 } },
        { "flow_newton_solution", BN_PER_CELL, { .reads = 1, .writes = 1, .flops = 0 } },
    };
    bn_kernel **const of_vectors[] = { &w->kernels.normalise, &w->kernels.dots,       &w->kernels.column,
                                       &w->kernels.project,   &w->kernels.combine,    &w->kernels.walls,
                                       &w->kernels.update,    &w->kernels.predict,    &w->kernels.unit,
                                       &w->kernels.rows,      &w->kernels.panel,      &w->kernels.strips,
                                       &w->kernels.eliminate, &w->kernels.substitute, &w->kernels.solution };
    const bn_define defines[] = {
        { .name = "HEAT", .kind = BN_DEF_INT, .u.i = s->config.a > 0 },
        { .name = "NODE_WALL", .kind = BN_DEF_INT, .u.i = FLOW_NODE_WALL },
        { .name = "NODE_BODY", .kind = BN_DEF_INT, .u.i = FLOW_NODE_BODY },
        { .name = "NODE_SIDE", .kind = BN_DEF_INT, .u.i = FLOW_NODE_SIDE },
        { .name = "UNKNOWN", .kind = BN_DEF_INT, .u.i = FLOW_NODE_UNKNOWN },
        { .name = "BAND", .kind = BN_DEF_INT, .u.i = w->band },
        { .name = "PANEL", .kind = BN_DEF_INT, .u.i = PANEL },
        { .name = "STRIDE_X", .kind = BN_DEF_INT, .u.i = w->stride[0] },
        { .name = "STRIDE_Y", .kind = BN_DEF_INT, .u.i = w->stride[1] },
        { .name = "STRETCHED", .kind = BN_DEF_INT, .u.i = 1 }, /* only there */
    };
    const size_t count = sizeof defines / sizeof *defines - !s->config.widths;
    BN_TRY(bn_program_build(d, "flow_krylov", defines, count, &w->program));
    for (size_t i = 0; i < (w->band > 0 ? sizeof descs / sizeof *descs : OF_GMRES); i++)
        BN_TRY(bn_kernel_find(w->program, &descs[i], of_vectors[i]));
    bn_kernel_layers(w->kernels.dots, DOT_LAYERS);
    bn_kernel_layers(w->kernels.column, DOT_LAYERS);
    bn_kernel_items(w->kernels.dots, BLOCK_ITEMS);
    bn_kernel_items(w->kernels.project, BLOCK_ITEMS);
    w->kernels.residual = bn_sim_kernel(sim, "flow_newton_residual");
    w->kernels.heat_source = bn_sim_kernel(sim, "flow_newton_heat_source");
    w->kernels.vorticity_source = bn_sim_kernel(sim, "flow_newton_vorticity_source");
    w->kernels.poisson = bn_sim_kernel(sim, "flow_newton_poisson");
    w->kernels.jacobian = bn_sim_kernel(sim, "flow_newton_jacobian");
    const size_t longer = s->config.nx > s->config.ny ? s->config.nx : s->config.ny;
    BN_TRY(bn_partials_create(d, "length of a vector", 1, 0, &w->norms));
    BN_TRY(bn_partials_create(d, "products of vectors", w->basis, 0, &w->products_of));
    for (int b = 0; b < FLOW_NEWTON_BATCH; b++)
        BN_TRY(bn_scalars_create(d, "Hessenberg column", (size_t)w->basis + 2, &w->columns[b]));
    BN_TRY(bn_scalars_create(d, "factors of vectors", (size_t)w->basis + 2, &w->factors));
    BN_TRY(bn_scalars_create(d, "values at walls", FLOW_SIDES * longer, &w->wall_values));
    BN_TRY(bn_scalars_share(w->wall_values));
    return bn_device_array_reals(d, "walls alone", w->table, 2 * ((size_t)s->config.nx + s->config.ny), &w->wall_table);
}

void flow_newton_teardown(flow *s)
{
    flow_newton *w = &s->newton;
    bn_program_destroy(&w->program);
    bn_partials_destroy(&w->norms);
    bn_partials_destroy(&w->products_of);
    for (int b = 0; b < FLOW_NEWTON_BATCH; b++)
        bn_scalars_destroy(&w->columns[b]);
    bn_scalars_destroy(&w->factors);
    bn_scalars_destroy(&w->wall_values);
    bn_device_array_destroy(&w->wall_table);
}

static bn_status solve_psi(bn_sim *sim, flow *s)
{
    (void)sim;
    BN_TRY(BN_RUN(s->device.poisson_source, BN_ARRAY_OR_NULL(s->device.axes), BN_READ(s->fields.omega, 0),
                  BN_READ(s->fields.psi, 1), BN_READ(s->fields.node, 0), BN_READ(s->systems.work[FLOW_PSI].bits, 0),
                  BN_UPDATE(s->fields.before), BN_WRITE(s->fields.rhs)));
    BN_TRY(bn_linear_solve(s->systems.solver[FLOW_PSI], s->fields.before, s->fields.rhs, &s->systems.target[FLOW_PSI]));
    bn_field_swap(s->fields.psi, s->fields.before);
    if (s->border.bodies == 0)
        return BN_OK;
    BN_TRY(flow_step_bodies(s, false, s->fields.psi, s->fields.omega, s->fields.T));
    BN_TRY(bn_scalars_read(s->device.totals, s->totals, FLOW_TOTALS + 1));
    s->psi_body = s->totals[FLOW_TOTALS];
    return BN_OK;
}

static bn_status residual(bn_sim *sim, flow *s, double scale)
{
    flow_newton *w = &s->newton;
    (void)sim;
    BN_TRY(BN_RUN(w->kernels.residual, BN_ARRAY_OR_NULL(s->device.axes), BN_READ(s->fields.psi, 1),
                  BN_READ(s->fields.omega, 1), BN_READ(heat_or(s, s->fields.T, s->fields.omega), 1),
                  BN_READ(s->systems.work[s->config.a > 0 ? FLOW_HEAT : FLOW_PSI].bits, 0), BN_READ(s->fields.node, 0),
                  BN_ARRAY(s->device.moving), BN_UPDATE(s->fields.velocity), BN_UPDATE(w->vectors), BN_REALV(scale),
                  BN_REALV(w->weight), BN_PARTIALS(s->device.sums), BN_PARTIALS(w->norms)));
    BN_TRY(BN_RUN(s->device.total_residual, BN_TOTALS(s->device.sums), BN_SCALARS(s->device.totals)));
    /* The temperature is first solved for by the preconditioner. */
    return bn_linear_reports(s->systems.solver, s->systems.report, w->products > 0 ? FLOW_SYSTEMS : FLOW_PSI + 1,
                             s->device.totals, s->totals, FLOW_TOTALS);
}

static bn_status normalise(flow *s, int k, int column)
{
    flow_newton *w = &s->newton;
    return BN_RUN(w->kernels.normalise, BN_UPDATE(w->vectors), BN_READ(s->fields.node, 0), BN_TOTALS(w->norms),
                  BN_I32V(k), BN_SCALARS(w->columns[column]), BN_SCALARS(w->wall_values));
}

static bn_status precondition(flow *s, int k)
{
    flow_newton *w = &s->newton;
    const flow_constants *c = &s->k;
    bn_field *d_psi = s->fields.before, *rhs = s->fields.rhs;
    const double nu_x = w->scale * c->nu_x, nu_y = w->scale * c->nu_y;
    BN_TRY(BN_RUN(w->kernels.walls, BN_READ(w->vectors, 0), BN_READ(s->fields.node, 0), BN_SCALARS(w->wall_values),
                  BN_ARRAY(w->wall_table), BN_I32V(k), BN_REALV(1 / nu_x), BN_REALV(1 / nu_y),
                  BN_REALV(FLOW_NEWTON_BODY / (nu_x > nu_y ? nu_x : nu_y)), BN_WRITE(w->d_omega), BN_WRITE(d_psi)));
    if (s->config.a > 0) {
        BN_TRY(BN_RUN(w->kernels.heat_source, BN_ARRAY_OR_NULL(s->device.axes), BN_READ(w->vectors, 0),
                      BN_READ(s->systems.work[FLOW_HEAT].bits, 0), BN_I32V(k),
                      BN_REALV(c->per_h2_x / (c->a_x * w->scale * w->weight)), BN_WRITE(rhs), BN_WRITE(w->d_heat)));
        BN_TRY(bn_linear_solve(s->systems.solver[FLOW_HEAT], w->d_heat, rhs, &s->systems.target[FLOW_HEAT]));
    }
    BN_TRY(BN_RUN(w->kernels.vorticity_source, BN_ARRAY_OR_NULL(s->device.axes), BN_READ(w->vectors, 0),
                  BN_READ(w->d_omega, 1), BN_READ(heat_or(s, w->d_heat, w->d_omega), 1), BN_READ(s->fields.velocity, 0),
                  BN_READ(s->fields.node, 0), BN_READ(s->systems.work[FLOW_PSI].bits, 0), BN_I32V(k),
                  BN_REALV(c->per_h2_x / nu_x), BN_WRITE(rhs)));
    if (s->systems.coupled) {
        BN_TRY(bn_linear_solve_two(s->systems.solver[FLOW_PSI], w->d_omega, d_psi, rhs));
        return bn_linear_check(s->systems.solver[FLOW_PSI], w->d_omega, rhs, &s->systems.target[FLOW_PSI]);
    }
    BN_TRY(bn_linear_solve(s->systems.solver[FLOW_PSI], w->d_omega, rhs, &s->systems.target[FLOW_PSI]));
    BN_TRY(BN_RUN(w->kernels.poisson, BN_ARRAY_OR_NULL(s->device.axes), BN_READ(w->d_omega, 0),
                  BN_READ(s->systems.work[FLOW_PSI].bits, 0), BN_WRITE(d_psi), BN_WRITE(rhs)));
    BN_TRY(bn_linear_solve(s->systems.solver[FLOW_PSI], d_psi, rhs, &s->systems.target[FLOW_PSI]));
    return s->border.bodies > 0 ? flow_step_bodies(s, true, d_psi, w->d_omega, w->d_heat) : BN_OK;
}

/* Vector k = J (d_omega, d_psi, d_heat). */
static bn_status multiply(flow *s, int k)
{
    flow_newton *w = &s->newton;
    return BN_RUN(w->kernels.jacobian, BN_ARRAY_OR_NULL(s->device.axes), BN_READ(s->fields.omega, 1),
                  BN_READ(s->fields.psi, 1), BN_READ(heat_or(s, s->fields.T, s->fields.omega), 1),
                  BN_READ(s->fields.velocity, 0), BN_READ(w->d_omega, 1), BN_READ(s->fields.before, 1),
                  BN_READ(heat_or(s, w->d_heat, w->d_omega), 1),
                  BN_READ(s->systems.work[s->config.a > 0 ? FLOW_HEAT : FLOW_PSI].bits, 0), BN_READ(s->fields.node, 0),
                  BN_UPDATE(w->vectors), BN_I32V(k), BN_REALV(w->scale), BN_REALV(w->weight));
}

static bn_status orthogonalise(flow *s, int k, int column)
{
    flow_newton *w = &s->newton;
    BN_TRY(multiply(s, k));
    BN_TRY(BN_RUN(w->kernels.dots, BN_READ(w->vectors, 0), BN_I32V(k), BN_PARTIALS(w->products_of)));
    BN_TRY(BN_RUN(w->kernels.column, BN_TOTALS(w->products_of), BN_I32V(k), BN_SCALARS(w->columns[column])));
    return BN_RUN(w->kernels.project, BN_UPDATE(w->vectors), BN_SCALARS(w->columns[column]), BN_I32V(k),
                  BN_PARTIALS(w->norms));
}

static bn_status read_columns(flow *s, double (*columns)[FLOW_NEWTON_COLUMN], int count, int rows)
{
    bn_scalars_request requests[FLOW_NEWTON_BATCH];
    for (int b = 0; b < count; b++)
        requests[b] = (bn_scalars_request){ s->newton.columns[b], columns[b], (size_t)rows };
    return bn_scalars_read_all(requests, (size_t)count);
}

static bn_status combine(flow *s, const double *factors, int k)
{
    flow_newton *w = &s->newton;
    BN_TRY(bn_scalars_write(w->factors, factors, (size_t)k));
    return BN_RUN(w->kernels.combine, BN_UPDATE(w->vectors), BN_READ(s->fields.node, 0), BN_SCALARS(w->factors),
                  BN_I32V(k), BN_SCALARS(w->wall_values));
}

static bn_status update(flow *s, double step)
{
    flow_newton *w = &s->newton;
    BN_TRY(BN_RUN(w->kernels.update, BN_READ(s->fields.omega, 0), BN_READ(w->d_omega, 0),
                  BN_READ(heat_or(s, s->fields.T, s->fields.omega), 0), BN_READ(heat_or(s, w->d_heat, w->d_omega), 0),
                  BN_REALV(step), BN_WRITE(s->fields.next), BN_WRITE(heat_or(s, s->fields.T_next, s->fields.rhs))));
    bn_field_swap(s->fields.omega, s->fields.next);
    if (s->config.a > 0)
        bn_field_swap(s->fields.T, s->fields.T_next);
    return BN_OK;
}

static bn_status predict(flow *s, double further, bool back)
{
    flow_newton *w = &s->newton;
    return BN_RUN(w->kernels.predict, BN_UPDATE(s->fields.omega), BN_UPDATE(heat_or(s, s->fields.T, s->fields.rhs)),
                  BN_REALV(further), BN_I32V(back), BN_UPDATE(w->omega_before),
                  BN_UPDATE(heat_or(s, w->T_before, s->fields.rhs)));
}

static bn_status eliminate(bn_sim *sim, flow *s, bool *asked)
{
    flow_newton *w = &s->newton;
    const int nodes = (int)(s->config.nx * s->config.ny);
    bn_domain *d = bn_field_domain(w->matrix);
    BN_TRY(bn_field_zero(w->matrix));
    for (int i = 0; i < 18; i++) { /* nine colours of psi, then of omega */
        const int colour = i % 9, part = i / 9;
        BN_TRY(
            BN_RUN(w->kernels.unit, BN_I32V(colour), BN_I32V(part), BN_WRITE(w->d_omega), BN_WRITE(s->fields.before)));
        BN_TRY(multiply(s, 1));
        BN_TRY(BN_RUN(w->kernels.rows, BN_ARRAY_OR_NULL(s->device.axes), BN_READ(w->vectors, 0),
                      BN_READ(s->fields.node, 0), BN_READ(s->systems.work[FLOW_PSI].bits, 0), BN_I32V(colour),
                      BN_I32V(part), BN_REALV(s->k.per_h2_x), BN_REALV(s->k.per_h2_y), BN_UPDATE(w->matrix)));
    }
    for (int begin = 0; begin < nodes && !*asked; begin += PANEL) {
        BN_TRY(BN_RUN(w->kernels.panel, BN_UPDATE(w->matrix), BN_I32V(begin)));
        BN_TRY(BN_RUN(w->kernels.strips, BN_UPDATE(w->matrix), BN_I32V(begin)));
        if (begin + PANEL < nodes)
            BN_TRY(BN_RUN(w->kernels.eliminate, BN_UPDATE(w->matrix), BN_I32V(begin)));
        if (begin % (PANEL * PANELS) == 0) {
            BN_TRY(bn_domain_finish(d));
            *asked = bn_sim_asked_to_end(sim);
        }
    }
    for (int begin = (nodes - 1) / PANEL * PANEL; begin >= 0 && !*asked; begin -= PANEL) {
        BN_TRY(BN_RUN(w->kernels.substitute, BN_UPDATE(w->matrix), BN_I32V(begin)));
        if (begin % (PANEL * PANELS) == 0)
            BN_TRY(bn_domain_finish(d));
    }
    return BN_RUN(w->kernels.solution, BN_READ(w->matrix, 0), BN_WRITE(w->d_omega));
}

const flow_newton_engine flow_newton_device = {
    .solve_psi = solve_psi,
    .residual = residual,
    .normalise = normalise,
    .precondition = precondition,
    .orthogonalise = orthogonalise,
    .read_columns = read_columns,
    .combine = combine,
    .update = update,
    .predict = predict,
    .eliminate = eliminate,
};
