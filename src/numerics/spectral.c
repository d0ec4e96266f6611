/* spectral.c: puts the tables of the fast direct solver on a device and launches it. */
#include "numerics/spectral.h"

#include "numerics/spectral_plan.h"

#include <stdlib.h>

enum { TWIDDLE, LOAD, PICK, LOAD_BACK, PICK_BACK, CHIRP, SPECTRUM, EIGENVALUE, TABLES };

struct bn_spectral {
    bn_domain *domain;
    bn_program *program;
    bn_kernel *rows, *columns;
    bn_device_array *table[2][TABLES];
    bn_field *room;
    bn_domain *turned_domain; /* columns as rows */
    bn_field *turned;
};

static const bn_kernel_desc rows_kernel = { "spectral_rows",
                                            BN_PER_ROW_PAIR,
                                            { .reads = 1, .writes = 1, .flops = 110 } };
static const bn_kernel_desc columns_kernel = { "spectral_columns",
                                               BN_PER_COLUMN_PAIR,
                                               { .reads = 1, .writes = 1, .flops = 220 } };

static bn_status create_tables(bn_domain *d, const bn_spectral_axis *a, bn_device_array *table[TABLES])
{
    const size_t length = (size_t)a->length, count = (size_t)a->count, size = (size_t)1 << a->log;
    const double none[2] = { 0, 0 };
    BN_TRY(bn_device_array_reals(d, "twiddle factors", a->twiddle, size, &table[TWIDDLE]));
    BN_TRY(bn_device_array_integers(d, "extension", a->load, length, &table[LOAD]));
    BN_TRY(bn_device_array_integers(d, "order", a->pick, count, &table[PICK]));
    BN_TRY(bn_device_array_integers(d, "extension back", a->load_back, length, &table[LOAD_BACK]));
    BN_TRY(bn_device_array_integers(d, "order back", a->pick_back, count, &table[PICK_BACK]));
    BN_TRY(bn_device_array_reals(d, "chirp", a->chirps ? a->chirp : none, a->chirps ? 2 * length : 2, &table[CHIRP]));
    BN_TRY(bn_device_array_reals(d, "spectrum of the chirp", a->chirps ? a->spectrum : none, a->chirps ? 2 * size : 2,
                                 &table[SPECTRUM]));
    return bn_device_array_reals(d, "eigenvalues", a->eigenvalue, count, &table[EIGENVALUE]);
}

bn_status bn_spectral_create(bn_domain *domain, const bn_stencil *stencil, bn_field *room, bn_spectral **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    bn_spectral_plan plan;
    bn_spectral *s = calloc(1, sizeof *s);
    if (!s || !bn_spectral_plan_create(stencil, &plan)) {
        free(s);
        return bn_fail(bn_domain_context(domain), BN_MEMORY, "no memory for the tables of the direct solver");
    }
    s->domain = domain;
    s->room = room;
    const bn_spectral_axis *x = &plan.axis[0], *y = &plan.axis[1];
    const bn_domain_desc turned = {
        .grid = { .dims = 2, .n = { (uint32_t)y->count, (uint32_t)x->count, 1 }, .h = { 1, 1, 1 } },
        .precision = bn_domain_precision(domain),
        .device = bn_domain_device(domain)
    };
    BN_GO(bn_domain_create(bn_domain_context(domain), &turned, &s->turned_domain));
    BN_GO(bn_field_create(s->turned_domain, &(bn_field_desc){ .name = "coefficients" }, &s->turned));
    const bn_place place = bn_domain_place(s->turned_domain);
    const struct {
        const char *name;
        long long value;
    } integers[] = {
        { "TRANSPOSED_FIRST", place.first },
        { "TRANSPOSED_PITCH", place.pitch },
        { "LOG_X", x->log },
        { "LENGTH_X", x->length },
        { "CHIRP_X", x->chirps },
        { "COUNT_X", x->count },
        { "FIRST_X", x->first },
        { "ODD_X", x->odd },
        { "LOG_Y", y->log },
        { "LENGTH_Y", y->length },
        { "CHIRP_Y", y->chirps },
        { "COUNT_Y", y->count },
        { "FIRST_Y", y->first },
        { "ODD_Y", y->odd },
        { "TWICE_LOW_X", x->low_free },
        { "TWICE_HIGH_X", x->high_free },
        { "TWICE_LOW_Y", y->low_free },
        { "TWICE_HIGH_Y", y->high_free },
    };
    enum { COUNT = sizeof integers / sizeof *integers };
    bn_define defines[COUNT];
    for (int i = 0; i < COUNT; i++)
        defines[i] = (bn_define){ .name = integers[i].name, .kind = BN_DEF_INT, .u.i = integers[i].value };
    BN_GO(bn_program_build(domain, "spectral", defines, COUNT, &s->program));
    BN_GO(bn_kernel_find(s->program, &rows_kernel, &s->rows));
    BN_GO(bn_kernel_find(s->program, &columns_kernel, &s->columns));
    BN_GO(create_tables(domain, x, s->table[0]));
    BN_GO(create_tables(domain, y, s->table[1]));
    *out = s;
    s = NULL;
out:
    bn_spectral_plan_destroy(&plan);
    bn_spectral_destroy(&s);
    return st;
}

void bn_spectral_destroy(bn_spectral **solver)
{
    if (!solver || !*solver)
        return;
    for (int d = 0; d < 2; d++)
        for (int t = 0; t < TABLES; t++)
            bn_device_array_destroy(&(*solver)->table[d][t]);
    bn_program_destroy(&(*solver)->program);
    bn_field_destroy(&(*solver)->turned);
    bn_domain_destroy(&(*solver)->turned_domain);
    free(*solver);
    *solver = NULL;
}

bn_status bn_spectral_solve(bn_spectral *s, bn_field *x, bn_field *b)
{
    bn_device_array *const *tx = s->table[0], *const *ty = s->table[1];
    BN_TRY(BN_RUN(s->rows, BN_READ(b, 0), BN_WRITE_OTHER_GRID(s->turned), BN_I32V(0), BN_ARRAY(tx[TWIDDLE]),
                  BN_ARRAY(tx[LOAD]), BN_ARRAY(tx[PICK]), BN_ARRAY(tx[CHIRP]), BN_ARRAY(tx[SPECTRUM])));
    BN_TRY(BN_RUN(s->columns, BN_WRITE_OTHER_GRID(s->turned), BN_UPDATE(s->room), BN_ARRAY(tx[EIGENVALUE]),
                  BN_ARRAY(ty[EIGENVALUE]), BN_ARRAY(ty[TWIDDLE]), BN_ARRAY(ty[LOAD]), BN_ARRAY(ty[PICK]),
                  BN_ARRAY(ty[LOAD_BACK]), BN_ARRAY(ty[PICK_BACK]), BN_ARRAY(ty[CHIRP]), BN_ARRAY(ty[SPECTRUM])));
    return BN_RUN(s->rows, BN_READ(s->room, 0), BN_UPDATE(x), BN_I32V(1), BN_ARRAY(tx[TWIDDLE]),
                  BN_ARRAY(tx[LOAD_BACK]), BN_ARRAY(tx[PICK_BACK]), BN_ARRAY(tx[CHIRP]), BN_ARRAY(tx[SPECTRUM]));
}
