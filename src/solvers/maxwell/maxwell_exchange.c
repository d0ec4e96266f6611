/* maxwell_exchange.c: the coefficients and fields of every cell as a folder of images, one per component: what the
 * forms with coefficients in every cell are made of, written for other programs or read from them. */
#include "maxwell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "E_xy", "tH_zx", "sE_yz", "Ebnd_x": member m of the record of E or H. */
static void name_of(bool magnetic, int m, char name[16])
{
    static const char *const parts[6] = { "xy", "xz", "yz", "yx", "zx", "zy" };
    static const char *const kinds[3] = { "", "t", "s" };
    const char *field = magnetic ? "H" : "E";
    if (m < 18)
        snprintf(name, 16, "%s%s_%s", kinds[m / 6], field, parts[m % 6]);
    else
        snprintf(name, 16, "%sbnd_%s", field, m == 18 ? "x" : "y");
}

/* Points of member m's image: E has one more across its component's direction, H along it. */
static void size_of(const maxwell *s, bool magnetic, int m, uint32_t n[3])
{
    const int component = m < 18 ? m % 6 / 2 : m - 18;
    for (int d = 0; d < 3; d++)
        n[d] = s->n[d] + ((d == component) == magnetic);
}

/* Pairs as planes: real parts, then imaginary parts. */
bn_status maxwell_write_folder(bn_sim *sim, maxwell *s)
{
    double record[2 * MAXWELL_RECORD], *values;
    bn_status st = BN_OK;
    const size_t most = (size_t)(s->n[0] + 1) * (s->n[1] + 1) * (s->n[2] + 1);
    if (!(values = calloc(2 * most, sizeof *values)))
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory to write the coefficients");
    for (int magnetic = 0; magnetic < 2; magnetic++)
        for (int m = 0; m < MAXWELL_RECORD; m++) {
            char name[16];
            bn_input image = { .components = 2, .values = values };
            size_of(s, magnetic, m, image.n);
            name_of(magnetic, m, name);
            const size_t points = (size_t)image.n[0] * image.n[1] * image.n[2];
            for (size_t p = 0; p < points; p++) {
                /* Beyond the last cell: around the sides; nothing in the wall behind the top. */
                const uint32_t k = (uint32_t)(p / ((size_t)image.n[0] * image.n[1]));
                const uint32_t at[3] = { (uint32_t)(p % image.n[0]) % s->n[0],
                                         (uint32_t)(p / image.n[0] % image.n[1]) % s->n[1], k % s->n[2] };
                maxwell_fill_record(s, magnetic, at, record);
                values[p] = k < s->n[2] ? record[2 * m] : 0;
                values[points + p] = k < s->n[2] ? record[2 * m + 1] : 0;
            }
            BN_GO(bn_input_write(bn_sim_context(sim), bn_sim_case(sim), "exchange.write", name, &image));
        }
out:
    free(values);
    return st;
}

bn_status maxwell_read_folder(const bn_case *c, bn_plan *p, maxwell *s)
{
    for (int magnetic = 0; magnetic < 2; magnetic++)
        for (int m = 0; m < MAXWELL_RECORD; m++) {
            char name[16];
            uint32_t n[3];
            const bn_input *image;
            name_of(magnetic, m, name);
            size_of(s, magnetic, m, n);
            BN_TRY(bn_plan_input(
                p, c, &(bn_input_desc){ .kind = BN_INPUT_IMAGE, .key = "exchange.read", .name = name }, &image));
            s->image[magnetic][m] = image;
            if (memcmp(image->n, n, sizeof n) != 0 || image->components != 2) {
                (void)bn_case_reject(
                    c, "exchange.read", "grid.cells says how many there are",
                    "%s.vti has %u x %u x %u points of %d numbers, %u x %u x %u complex ones are needed", name,
                    image->n[0], image->n[1], image->n[2], image->components, n[0], n[1], n[2]);
                return BN_OK;
            }
        }
    return BN_OK;
}

void maxwell_take_record(const maxwell *s, bool magnetic, const uint32_t at[3], double *record)
{
    for (int m = 0; m < MAXWELL_RECORD; m++) {
        const bn_input *image = s->image[magnetic][m];
        const size_t points = (size_t)image->n[0] * image->n[1] * image->n[2];
        const size_t p = ((size_t)at[2] * image->n[1] + at[1]) * image->n[0] + at[0];
        record[2 * m] = image->values[p];
        record[2 * m + 1] = image->values[points + p];
    }
}
