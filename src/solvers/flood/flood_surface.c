/* flood_surface.c: what falls on the ground and what covers it: rain, infiltration, the roughness of land cover. */
#include "flood_plans.h"

#include <math.h>
#include <stdlib.h>

/* In one metre per second [mm/h]. */
static const double mm_per_hour = 3.6e6;

static void read_covers(const bn_case *c, flood *s)
{
    flood_surface *f = &s->surface;
    const size_t count = bn_case_items(c, "cover");
    f->land[0].gn2 = s->k.gn2;
    f->land[0].conductivity = bn_case_real(c, "soil.conductivity");
    f->land[0].suction = bn_case_real(c, "soil.suction") * bn_case_real(c, "soil.deficit");
    f->lands = 1;
    for (size_t i = 0; i < count && f->lands < FLOOD_LANDS; i++, f->lands++) {
        const double manning = bn_case_item_real(c, "cover.manning", i);
        f->land[f->lands].code = bn_case_item_int(c, "cover.code", i);
        f->land[f->lands].gn2 = s->k.g * manning * manning;
        f->land[f->lands].conductivity = bn_case_item_real(c, "cover.conductivity", i);
        f->land[f->lands].suction = bn_case_item_real(c, "cover.suction", i) * bn_case_item_real(c, "cover.deficit", i);
        for (int k = 1; k < f->lands; k++)
            if (f->land[k].code == f->land[f->lands].code)
                (void)bn_case_reject_item(c, "cover.code", i, NULL, "this number has a [[cover]] already");
    }
    if (count >= FLOOD_LANDS)
        (void)bn_case_reject_item(c, "cover.code", FLOOD_LANDS - 1, NULL, "there are at most %d kinds of land cover",
                                  FLOOD_LANDS - 1);
    for (int side = 0; side < FLOOD_SIDES; side++)
        for (int k = 1; s->side[side].kind == FLOOD_NORMAL && k < f->lands; k++)
            if (!(f->land[k].gn2 > 0))
                (void)bn_case_reject_item(c, "cover.manning", (size_t)k - 1, "cover.manning = 0.03",
                                          "a side at normal depth needs friction everywhere");
    if (count > 0 && bn_case_text(c, "bed.cover")[0] == '\0')
        (void)bn_case_reject_item(c, "cover.code", 0, "bed.cover = \"...\"", "land cover needs a map of its numbers");
}

static bn_status read_map(const bn_case *c, bn_plan *p, const char *key, const bn_input **out)
{
    return bn_case_text(c, key)[0] == '\0'
               ? BN_OK
               : bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_TERRAIN, .key = key }, out);
}

bool flood_rains(const bn_case *c)
{
    bool any = bn_case_real(c, "rain.rate") > 0;
    for (size_t i = 0; i < bn_case_items(c, "history"); i++)
        any = any || bn_case_item_choice(c, "history.of", i) == HISTORY_RAIN;
    return any;
}

bn_status flood_read_surface(const bn_case *c, bn_plan *p, flood *s)
{
    flood_surface *f = &s->surface;
    flood_scheme *m = &s->scheme;
    read_covers(c, s);
    f->rate = bn_case_real(c, "rain.rate");
    for (int k = 0; k < f->lands; k++) {
        m->friction = m->friction || f->land[k].gn2 > 0;
        m->soil = m->soil || f->land[k].conductivity > 0;
    }
    m->compensated = m->order == 1 || m->rain || m->soil;
    if (s->grid.storeys > 1 && (m->rain || m->soil || bn_case_text(c, "bed.cover")[0] != '\0'))
        (void)bn_case_reject_item(c, "storey.height", 1, "use a source or a drain",
                                  "rain, soil and land cover are for the open air, not for storeys");
    if (bn_case_text(c, "rain.share")[0] != '\0' && !m->rain)
        (void)bn_case_reject(c, "rain.share", "rain.rate = \"30 mm/h\"", "there is no rain to be shared");
    if (bn_case_diagnostics(c)[0])
        return BN_OK;
    BN_TRY(read_map(c, p, "bed.cover", &f->covers));
    return read_map(c, p, "rain.share", &f->share);
}

void flood_surface_values(const bn_case *c, const flood *s, double begin, double end, double values[FLOOD_VALUES])
{
    const flood_surface *f = &s->surface;
    if (s->scheme.rain) {
        const double constant = f->rate * mm_per_hour, before = fmax(0, begin - (end - begin));
        const double rate = flood_mean(c, HISTORY_RAIN, 1, begin, end, constant) / mm_per_hour;
        values[FLOOD_RAIN_RATE] = bn_case_double(c) ? rate : (double)(float)rate;
        /* One step more of every block copies what it holds to the other of the two fields. */
        values[FLOOD_RAIN_LATELY] = rate > 0 ||
                                    (begin > 0 && flood_mean(c, HISTORY_RAIN, 1, before, begin, constant) > 0);
    }
    for (int k = 0; k < f->lands; k++) {
        double *land = values + FLOOD_LAND_VALUES + FLOOD_LAND_VALUE * k;
        land[0] = f->land[k].gn2;
        land[1] = f->land[k].conductivity;
        land[2] = f->land[k].suction;
    }
}

static bn_status supply_share(void *user, const bn_region *r, void *to)
{
    const flood *s = user;
    double *share = to;
    for (size_t at = 0; at < (size_t)r->n[0] * r->n[1]; at++) {
        const size_t i = r->first[0] + at % r->n[0], j = r->first[1] + at / r->n[0];
        double x[2];
        flood_place_on_map(s, i, j, x);
        const double given = s->surface.share ? bn_input_height(s->surface.share, x) : 1;
        share[at] = given > 0 && !(s->cells.code[j * s->grid.nx + i] & FLOOD_SOLID) ? given : 0;
    }
    return BN_OK;
}

/* The class of each cell: its place among those of the case, 0 for numbers that have none. */
static bn_status fill_land(bn_sim *sim, const flood *s)
{
    const size_t points = (size_t)s->grid.nx * s->grid.ny;
    int32_t *land = calloc(points, sizeof *land);
    if (!land)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the land cover of %zu cells", points);
    for (size_t at = 0; at < points; at++) {
        double x[2];
        flood_place_on_map(s, at % s->grid.nx, at / s->grid.nx, x);
        const double number = bn_input_pixel(s->surface.covers, x);
        for (int k = 1; k < s->surface.lands; k++)
            if (number == (double)s->surface.land[k].code)
                land[at] = k;
    }
    const bn_status st = bn_field_write(s->f.land, land, points * sizeof *land);
    free(land);
    return st;
}

bn_status flood_fill_surface(bn_sim *sim, flood *s)
{
    if (s->f.soaked) {
        BN_TRY(bn_field_zero(s->f.soaked));
        BN_TRY(bn_field_zero(s->f.next_soaked));
    }
    if (s->f.land)
        BN_TRY(fill_land(sim, s));
    if (!s->f.rain_share)
        return BN_OK;
    BN_TRY(bn_field_supply(s->f.rain_share, BN_AS_DOUBLES, supply_share, s));
    s->surface.rained_on = 0;
    BN_TRY(bn_field_visit(s->f.rain_share, BN_AS_DOUBLES, flood_add_up, &s->surface.rained_on));
    s->surface.rained_on *= s->grid.area;
    return BN_OK;
}
