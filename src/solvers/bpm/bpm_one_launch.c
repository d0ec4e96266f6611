/* bpm_one_launch.c: many steps of a beam in space in one launch (bpm_steps of kernels/bpm.cl) where the cross-section
 * is small, so that launches cost more than what they do: on a device whose work-groups run side by side, which the
 * setup proves, since they wait for each other. */
#include "api/other_grids.h"
#include "bpm.h"

/* Nodes along a side up to which one launch is faster. Measured on an H200 (docs/measurements.md). */
enum { ONE_LAUNCH_SIDE = 512 };

/* Both directions have the same program and the same places in memory, so the cross-section is square. */
static bool suits(const bpm *s, const bn_device_info *device)
{
    const bool wanted = s->c.launches == BN_LAUNCHES_ONE || (s->c.launches == BN_LAUNCHES_AUTO && device &&
                                                             device->side_by_side && s->c.n <= ONE_LAUNCH_SIDE);
    return wanted && !(device && device->cpu) && s->c.axes == 2 && s->c.solver == BPM_DIRECT && s->c.n == s->c.rows &&
           s->axis[0].chunk == s->axis[1].chunk && s->axis[0].chunks <= BPM_LANES;
}

bn_status bpm_plan_one_launch(bn_plan *p, const bpm *s)
{
    if (!suits(s, bn_plan_device(p)))
        return BN_OK;
    BN_TRY(bn_plan_needs(p, "steps in one launch"));
    return bn_plan_define_int(p, "ONE_LAUNCH", 1);
}

static bool lie_alike(const bpm *s)
{
    const bn_domain *x = s->axis[0].domain, *y = s->axis[1].domain;
    const bn_place here = bn_domain_place(x), there = bn_domain_place(y);
    return bn_domain_boxes(x) == 1 && bn_domain_boxes(y) == 1 && here.first == there.first && here.pitch == there.pitch;
}

bn_status bpm_run_passes(const bpm *s, const bpm_passes *p)
{
    const bpm_axis *x = &s->axis[0], *y = &s->axis[1];
    bn_kernel_repeats(s->space.steps, (double)p->count);
    return BN_RUN(s->space.steps, BN_UPDATE(x->psi), BN_WRITE_OTHER_GRID(y->psi), BN_READ(x->r_field, 0),
                  BN_READ_OTHER_GRID(y->r_field), BN_READ(x->v_field, 0), BN_READ_OTHER_GRID(y->v_field),
                  BN_UPDATE(x->work), BN_I32V(p->along_y), BN_I32V((int32_t)p->count), BN_I32V(p->first),
                  BN_I32V(p->last), BN_I32V(p->store), BN_REALV(s->factor[0]), BN_REALV(s->factor[1]),
                  BN_I32V(x->reach), BN_I32V(y->reach), BN_ARRAY(s->space.meeting), BN_SCALARS(s->space.failed));
}

static bn_status have_failed(const bpm *s, bool *failed)
{
    double value;
    BN_TRY(bn_scalars_read(s->space.failed, &value, 1));
    *failed = value != 0;
    return BN_OK;
}

bn_status bpm_check_meetings(const bpm *s)
{
    bool failed = false;
    if (s->space.steps)
        BN_TRY(have_failed(s, &failed));
    return failed ? bn_fail(bn_domain_context(s->axis[0].domain), BN_DEVICE,
                            "work-groups waited for each other in vain; solver.launches = \"several\" goes without")
                  : BN_OK;
}

bn_status bpm_one_launch_setup(bpm *s)
{
    static const bn_kernel_desc steps = { "bpm_steps", BN_SIDE_BY_SIDE, { .reads = 5, .writes = 2, .flops = 60 } };
    bpm_axis *x = &s->axis[0];
    const bn_device *device = bn_domain_device(x->domain);
    bpm_space *m = &s->space;
    bool failed;
    bn_define defines[BPM_DEFINES];
    if (!suits(s, bn_device_describe(device)) || !lie_alike(s))
        return BN_OK;
    bpm_kernel_constants(s, 0, bn_device_describe(device), defines);
    defines[BPM_KERNEL_CONSTANTS] = (bn_define){ "ONE_LAUNCH", BN_DEF_INT, { .i = 1 } };
    BN_TRY(bn_program_build(x->domain, "bpm+bpm_lanes", defines, BPM_DEFINES, &x->program));
    BN_TRY(bn_kernel_find(x->program, &steps, &m->steps));
    bn_kernel_side_by_side(m->steps, (s->c.rows + BN_BLOCK_NY - 1) / BN_BLOCK_NY);
    BN_TRY(bn_device_array_meeting(x->domain, &m->meeting));
    BN_TRY(bn_scalars_create(x->domain, "failed meetings", 1, &m->failed));
    BN_TRY(bpm_run_passes(s, &(bpm_passes){ .count = 0 }));
    BN_TRY(have_failed(s, &failed));
    if (failed) {
        bn_log(bn_domain_context(x->domain), BN_LOG_WARNING,
               "work-groups do not run side by side as this device's promise has it: steps are several launches");
        m->steps = NULL;
        bn_program_destroy(&x->program);
    }
    return BN_OK;
}

void bpm_one_launch_teardown(bpm *s)
{
    bn_device_array_destroy(&s->space.meeting);
    bn_scalars_destroy(&s->space.failed);
}
