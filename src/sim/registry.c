/* registry.c: the solvers that are built in (src/sim/solvers.def), the published variants that benchmark suites repeat
 * (src/sim/studies.def), and reading a case by the schema of its solver. */
#include "sim/solver_table.h"

#include <assert.h>
#include <string.h>

#define BN_SOLVER(name) extern const bn_solver bn_solver_##name;
#include "sim/solvers.def"
#include "sim/studies.def"
#undef BN_SOLVER

#define BN_SOLVER(name) &bn_solver_##name,
static const bn_solver *const solvers[] = {
#include "sim/solvers.def"
#include "sim/studies.def"
    NULL,
};
#undef BN_SOLVER

#define BN_SOLVER(name) #name,
static const char *const names[] = {
#include "sim/solvers.def"
    NULL,
};
static const char *const study_names[] = {
#include "sim/studies.def"
    NULL,
};
#undef BN_SOLVER

const char *const *bn_solver_names(void) { return names; }
const char *const *bn_study_names(void) { return study_names; }

const bn_solver *bn_solver_find(const char *name)
{
    for (size_t i = 0; solvers[i]; i++)
        if (strcmp(solvers[i]->name, name) == 0) {
            const bn_solver *s = solvers[i];
            assert(s->summary && s->schema && s->kernels && s->state_size > 0);
            assert(s->device && s->reference[BN_SINGLE] && s->reference[BN_DOUBLE] && s->plan && s->init);
            return s;
        }
    return NULL;
}

const char *bn_solver_summary(const char *name)
{
    const bn_solver *s = bn_solver_find(name);
    return s ? s->summary : NULL;
}

static const bn_key *find_schema(const char *solver)
{
    const bn_solver *s = bn_solver_find(solver);
    return s ? s->schema : NULL;
}

static const bn_schema_source schemas = { find_schema, names };

bn_status bn_case_read(bn_context *ctx, const char *path, const char *const *overrides, size_t count, bn_case **out)
{
    return bn_case_load(ctx, path, NULL, overrides, count, &schemas, out);
}

bn_status bn_case_parse(bn_context *ctx, const char *name, const char *text, const char *const *overrides, size_t count,
                        bn_case **out)
{
    return bn_case_load(ctx, name, text, overrides, count, &schemas, out);
}

bn_status bn_solver_every_key(bn_context *ctx, const char *solver, char **text)
{
    return bn_case_every_key(ctx, solver, &schemas, text);
}

bn_coordinate bn_solver_coordinate(const bn_solver *s)
{
    if (!s || !s->along)
        return (bn_coordinate){ "time", "t", "s" };
    return (bn_coordinate){ s->along, s->along, s->along_unit };
}

const char *bn_solver_counts(const bn_solver *s) { return s->counts ? s->counts : "cells"; }
