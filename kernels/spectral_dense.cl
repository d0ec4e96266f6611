/* spectral_dense.cl: a direct solver for the matrix of lib/stencil.h on a rectangle of a stretched grid (Lynch, Rice,
 * Thomas 1964): products with the eigenvectors of each dimension in place of the transforms of spectral.cl. With V' W V
 * = 1, W the widths of the control volumes, V' forward makes the matrix diagonal, and V leads back.
 *
 * Unknowns are COUNT_X by COUNT_Y nodes from FIRST_X, FIRST_Y on. Tables have a row for each unknown and a column for
 * each node, zero where there is no unknown; eigenvalues are 1 there. With SYSTEMS = 2 the coefficients of the first
 * solution, divided once more, are those of the second. */

/* So many addends of a sum at once, whose loads overlap. */
#define ADDENDS 8
#define OWN(r) ((r)*LANES + lane)
#define EACH_NODE(r, body)                                  \
    for (int r = 0; r < BLOCK_NY; r++)                      \
        if (block_top() + r < NY) {                         \
            EACH_LANE(lane, width, body)                    \
        }
/* own = the sum over m < count, in this order, of a(m) b(m). */
#define SUM_PRODUCTS(count, a, b)                                                                          \
    EACH_NODE(r, own[OWN(r)] = 0)                                                                          \
    int m = 0;                                                                                             \
    for (; m + ADDENDS <= (count); m += ADDENDS) {                                                         \
        EACH_NODE(r, real sum = own[OWN(r)]; for (int q = 0; q < ADDENDS; q++) sum = sum + a(m + q) * b(m + q); \
                  own[OWN(r)] = sum)                                                                       \
    }                                                                                                      \
    for (; m < (count); m++) {                                                                             \
        EACH_NODE(r, own[OWN(r)] = own[OWN(r)] + a(m) * b(m))                                              \
    }
#define IS_UNKNOWN                                                                                         \
    (block_first() + lane >= FIRST_X && block_first() + lane < FIRST_X + COUNT_X && block_top() + r >= FIRST_Y && \
     block_top() + r < FIRST_Y + COUNT_Y)

/* Along x; `adds`: plus, to the second solution. */
kernel void spectral_dense_rows(global const real *restrict in, global const real *restrict table,
                                global const real *restrict plus, int adds, global real *restrict out)
{
    local real own[BLOCK_NY * LANES];
    const int width = min(BLOCK_NX, NX - block_first());
#define ENTRY(m) table[(m)*NX + block_first() + lane]
#define VALUE(m) in[AT(FIRST_X + (m), block_top() + r)]
    SUM_PRODUCTS(COUNT_X, ENTRY, VALUE)
#undef ENTRY
#undef VALUE
    EACH_NODE(r, const index_t at = AT(block_first(), block_top() + r) + lane;
              const real value = PLUS && adds ? own[OWN(r)] + plus[at] : own[OWN(r)];
              STORE_IF(IS_UNKNOWN, out[at], value))
}

/* Along y; forward the coefficients, divided by the sum of the eigenvalues: along x, along y, and of the second
 * system. */
kernel void spectral_dense_columns(global const real *restrict in, global const real *restrict table,
                                   global const real *restrict eigenvalues, int forward, global real *restrict out,
                                   global real *restrict out_second)
{
    local real own[BLOCK_NY * LANES];
    const int width = min(BLOCK_NX, NX - block_first());
#define ENTRY(m) table[(m)*NY + block_top() + r]
#define VALUE(m) in[AT(block_first(), FIRST_Y + (m)) + lane]
    SUM_PRODUCTS(COUNT_Y, ENTRY, VALUE)
#undef ENTRY
#undef VALUE
    EACH_NODE(r, const index_t at = AT(block_first(), block_top() + r) + lane;
              const real by = eigenvalues[block_first() + lane] + eigenvalues[NX + block_top() + r];
              own[OWN(r)] = forward ? own[OWN(r)] / by : own[OWN(r)]; STORE_IF(IS_UNKNOWN, out[at], own[OWN(r)]))
    if (SYSTEMS == 2 && forward) {
        global const real *second = eigenvalues + NX + NY;
        EACH_NODE(r, const index_t at = AT(block_first(), block_top() + r) + lane;
                  const real by = second[block_first() + lane] + second[NX + block_top() + r];
                  STORE_IF(IS_UNKNOWN, out_second[at], own[OWN(r)] / by))
    }
}
