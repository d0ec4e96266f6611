/* maxwell_anderson.cl: acceleration of the iteration of maxwell.cl, which stands before it: Anderson's (1965) method,
 * restarted. `history` holds ANDERSON_DEPTH differences U_l of successive states and the last state X; components of a
 * state are those of E, H and the parts of both, one after the other.
 *   gram(row, column) = sum over cells of conj(U_column) U_row,   new state = X - sum over l of weight_l U_l    (6) */
#if ANDERSON_DEPTH
#define PART_COUNT (PML_SIDES ? 3 : 2)
#define COMPONENTS (6 + 2 * PART_COUNT)
#define HISTORY(slot, c) history[(long)((slot)*COMPONENTS + (c)) * PLANE + at]

/* Component c of the state of a cell. */
#define STATE(c)                                         \
    *((c) < 3                ? &E[at + (c)*PLANE]        \
      : (c) < 6              ? &H[at + ((c)-3) * PLANE]  \
      : (c) < 6 + PART_COUNT ? &part_E[at + ((c)-6) * PLANE] \
                             : &part_H[at + ((c)-6 - PART_COUNT) * PLANE])

/* Stores the state as the last one and, unless slot is -1, its difference to the one before. */
kernel void maxwell_anderson_store(global const real2 *restrict E, global const real2 *restrict H,
                                   global const real2 *restrict part_E, global const real2 *restrict part_H,
                                   global real2 *restrict history, int slot)
{
    CELL3(i, j, k);
    const index_t at = AT3(i, j, k);
    for (int c = 0; c < COMPONENTS; c++) {
        const real2 x = STATE(c);
        if (slot >= 0)
            HISTORY(slot, c) = x - HISTORY(ANDERSON_DEPTH, c);
        HISTORY(ANDERSON_DEPTH, c) = x;
    }
}

/* (6): real and imaginary parts of gram(row, from), gram(row, from + 1), ... by block; then sums over all blocks. */
kernel void maxwell_anderson_gram(global const real2 *restrict history, int row, int from,
                                  global acc *restrict partials)
{
    local acc re[GRAM_COLUMNS][LANES], im[GRAM_COLUMNS][LANES];
    for (int m = 0; m < GRAM_COLUMNS; m++) {
        CLEAR_LANES(re[m]);
        CLEAR_LANES(im[m]);
    }
    FOR_CELLS(1, i, j, lane) {
        const index_t at = AT3(i, j, block_k());
        real a[GRAM_COLUMNS] = { 0 }, b[GRAM_COLUMNS] = { 0 };
        for (int c = 0; c < COMPONENTS; c++) {
            const real2 u = HISTORY(row, c);
            for (int m = 0; m < GRAM_COLUMNS; m++) {
                const real2 v = HISTORY(min(from + m, row), c);
                a[m] = a[m] + (v.x * u.x + v.y * u.y);
                b[m] = b[m] + (v.x * u.y - v.y * u.x);
            }
        }
        for (int m = 0; m < GRAM_COLUMNS; m++) {
            re[m][lane] += a[m];
            im[m][lane] += b[m];
        }
    }
    for (int m = 0; m < GRAM_COLUMNS; m++) {
        put_partial_sum(partials, 2 * m, re[m]);
        put_partial_sum(partials, 2 * m + 1, im[m]);
    }
}

kernel void maxwell_anderson_gram_sum(global const acc *restrict sums, int row, int from, global real *restrict gram)
{
    local acc scratch[FINISH_LANES];
    for (int m = 0; m < 2 * GRAM_COLUMNS; m++) {
        const acc sum = total_sum(sums, m, scratch);
        if (get_local_id(0) == 0 && from + m / 2 <= row)
            gram[2 * (row * ANDERSON_DEPTH + from) + m] = sum;
    }
}

kernel void maxwell_anderson_update(global const real2 *restrict history, global const real2 *restrict weights,
                                    global real2 *restrict E, global real2 *restrict H, global real2 *restrict part_E,
                                    global real2 *restrict part_H)
{
    CELL3(i, j, k);
    const index_t at = AT3(i, j, k);
    for (int c = 0; c < COMPONENTS; c++) {
        real2 x = HISTORY(ANDERSON_DEPTH, c);
        for (int l = 1; l < ANDERSON_DEPTH; l++)
            x = x - times(weights[l], HISTORY(l, c));
        STATE(c) = x;
    }
}
#endif
