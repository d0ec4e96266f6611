/* lanes.h: loops over the lanes of blocks (reduce.h) in the form that each kind of compiler makes fast code of, so that
 * no other kernel file distinguishes CPUs from GPUs. On a CPU a work-group usually is one work-item, and its compiler
 * makes vectors of neighbouring lanes; on a GPU each work-item has its own lanes.
 *
 * PoCL makes vectors only of loops in which it sees no call: functions called there must be INLINED, take structures by
 * pointer, and use the operations below. Other devices have instructions for MINIMUM and MAXIMUM, which differ from the
 * comparisons in the signs of zeros alone: results must not depend on these. */
#ifdef POCL_DEVICE_ADDRESS_BITS
#define INLINED static inline __attribute__((always_inline))
#if REAL_BYTES == 8
#define SQRT(x) __builtin_sqrt(x)
#define ABS(x) __builtin_fabs(x)
#else
#define SQRT(x) __builtin_sqrtf(x)
#define ABS(x) __builtin_fabsf(x)
#endif
#define MINIMUM(a, b) ((a) < (b) ? (a) : (b))
#define MAXIMUM(a, b) ((a) > (b) ? (a) : (b))
#else
#ifdef CALLS_LOSE_ARGUMENTS
#define INLINED static inline __attribute__((always_inline))
#else
#define INLINED static inline
#endif
#define SQRT(x) sqrt(x)
#define ABS(x) fabs(x)
#define MINIMUM(a, b) fmin(a, b)
#define MAXIMUM(a, b) fmax(a, b)
#endif

/* 1 / b, a / b and the root of x, correctly rounded where b, x, the results and what their rounding leaves of a and x
 * are normal numbers, or a is zero. NVIDIA's compiler makes such instructions of `/` and sqrt, too, but asks first
 * whether they will do, by a branch that nothing of the next edge or cell passes. One correction of a quotient is
 * enough (tried on 2.1e9 pairs, 6e8 of them with quotients that lie beside the middle of two numbers). */
#if defined(__NV_CL_C_VERSION) && REAL_BYTES == 4
INLINED real normal_reciprocal(real b)
{
    real guess;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(b));
    return fma(guess, fma(-b, guess, 1), guess);
}
INLINED real normal_quotient(real a, real b)
{
    const real inverse = normal_reciprocal(b), guess = a * inverse;
    return fma(inverse, fma(-b, guess, a), guess);
}
INLINED real normal_root(real x)
{
    real inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
    const real guess = x * inverse;
    return fma(fma(-guess, guess, x), REAL(0.5) * inverse, guess);
}
/* The root of any x that is not negative; below 1e-36 another number that small, for sums that do not notice it. */
#define small_root(x) normal_root(fmax(x, REAL(1e-36)))
#else
#define normal_reciprocal(b) (1 / (b))
#define normal_quotient(a, b) ((a) / (b))
#define normal_root(x) SQRT(x)
#define small_root(x) SQRT(x)
#endif

/* How many lanes a vector takes. PoCL 5.0 and 6.0 make vectors of no loop that does not say it (pocl pull request 1535
 * of 2024); others find about as many by themselves. Only where no lane needs another one's result: sums over lanes
 * would be formed in another order. */
#if IS_CPU && defined(POCL_DEVICE_ADDRESS_BITS)
#pragma clang diagnostic ignored "-Wpass-failed"
#if REAL_BYTES == 8
#define IN_VECTORS _Pragma("clang loop vectorize_width(4)")
#else
#define IN_VECTORS _Pragma("clang loop vectorize_width(8)")
#endif
#else
#define IN_VECTORS
#endif

/* Vectors of all that a register holds, for kernels whose arithmetic counts. Where a register has 512 bits LLVM keeps
 * to 256 for most processors, unless what becomes part of the kernel takes more as an argument. */
#if IS_CPU && defined(POCL_DEVICE_ADDRESS_BITS) && defined(__AVX512F__)
#if REAL_BYTES == 8
#define IN_WHOLE_VECTORS take_whole_vector((reals)(0)); _Pragma("clang loop vectorize_width(8)")
#else
#define IN_WHOLE_VECTORS take_whole_vector((reals)(0)); _Pragma("clang loop vectorize_width(16)")
#endif
INLINED void take_whole_vector(reals unused) { (void)unused; }
#else
#define IN_WHOLE_VECTORS IN_VECTORS
#endif

#if IS_CPU

/* Elements of a list of lanes in front of the first one and behind the last: a line of the cache, so that vectors of
 * the lists after it begin with one. */
#define LANE_MARGIN 16

typedef long lane_t; /* as wide as index_t */

/* Runs `body` for the lanes below `count`. */
#define EACH_LANE(lane, count, body)                                                                                   \
    if (get_local_size(0) == 1) {                                                                                      \
        IN_WHOLE_VECTORS for (lane_t lane = 0; lane < (count); lane++) {                                               \
            body;                                                                                                      \
        }                                                                                                              \
    } else {                                                                                                           \
        FOR_LANES(lane, count) { body; }                                                                               \
    }

/* The same in each of some rows. On a GPU the rows of narrow blocks are taken side by side, so that no work-item idles:
 * a lane is not always the same one's. */
#define EACH_LANE_IN_ROWS(row, lane, rows, count, body)                                                                \
    for (int row = 0; row < (rows); row++)                                                                             \
        EACH_LANE(lane, count, body)

/* A row [first, last) of cells of which most have the same code; lane: counted from the first. The loop over `other_`
 * has two turns, a stretch of those alike from from_ on and the cell behind it, and is unrolled: in the first copy of
 * the body CODE_HERE is a constant, branches on it are gone, and the compiler can make vectors. end_of_those_alike: an
 * expression of from_ and end_. Several work-items of a group take cell by cell. */
#define IN_STRETCHES(i, lane, first, last, end_of_those_alike)                                                         \
    for (long from_ = (first) + (long)get_local_id(0), end_ = (last), to_ = from_; from_ < end_;                       \
         from_ = to_ + (long)get_local_size(0))                                                                        \
        _Pragma("clang loop unroll(full)") for (int other_ = 0; other_ < 2; other_++)                                  \
            IN_VECTORS for (long i = other_ ? to_ : from_,                                                             \
                            stop_ = other_ ? min(to_ + 1, end_)                                                        \
                                           : (to_ = get_local_size(0) == 1 ? (end_of_those_alike) : from_),            \
                            lane = i - (first);                                                                        \
                            i < stop_; i = other_ ? stop_ : i + 1, lane++)
#define CODE_HERE(code, usual) (other_ ? (code) : (usual))

/* FOR_CELLS, and FOR_COLUMNS, of reduce.h. */
#define FOR_CELLS_ALIKE(active, i, j, lane, codes, usual)                                                              \
    for (int j = block_top(), rows_ = (active) ? min(block_top() + BLOCK_NY, NY) : 0; j < rows_; j++)                  \
        IN_STRETCHES(i, lane, block_first(), min(block_first() + BLOCK_NX, NX),                                        \
                     sizeof *(codes) == 1                                                                              \
                         ? end_of_bytes((global const uchar *)(codes) + AT(0, j), from_, end_, usual)                  \
                         : end_of_integers((global const int *)(codes) + AT(0, j), from_, end_, usual))
#define FOR_COLUMNS_ALIKE(c, wide, first, high, chunk, end_of_those_alike)                                             \
    for (int first = 0; first < (high); first++)                                                                       \
        IN_STRETCHES(c, lane_, 0, wide, end_of_those_alike)
/* The cells of a kernel of range BN_PER_CELL_OR_BLOCK: here a block, on a GPU the one of this work-item. */
#define EACH_CELL_ALIKE(i, j, codes, usual) FOR_CELLS_ALIKE(1, i, j, lane_, codes, usual)

/* The first of places from ... end - 1 that is not `usual`. */
INLINED long end_of_integers(global const int *codes, long from, long end, int usual)
{
    long to = from;
    for (; to + 16 <= end; to += 16) {
        const int16 differ = vload16(0, codes + to) ^ usual;
        const int8 eight = differ.lo | differ.hi;
        const int4 four = eight.lo | eight.hi;
        if (four.x | four.y | four.z | four.w)
            break;
    }
    while (to < end && codes[to] == usual)
        to++;
    return to;
}
#define END_OF_BYTES(name, space)                                                                                      \
    INLINED long name(space const uchar *codes, long from, long end, int usual)                                        \
    {                                                                                                                  \
        const ulong all = 0x0101010101010101UL * (ulong)usual;                                                         \
        long to = from;                                                                                                \
        for (; to + 16 <= end; to += 16) {                                                                             \
            const ulong2 differ = as_ulong2(vload16(0, codes + to)) ^ all;                                             \
            if (differ.x | differ.y)                                                                                   \
                break;                                                                                                 \
        }                                                                                                              \
        while (to < end && codes[to] == usual)                                                                         \
            to++;                                                                                                      \
        return to;                                                                                                     \
    }
END_OF_BYTES(end_of_bytes, global)
END_OF_BYTES(end_of_local_bytes, local)

/* Rows of lanes that need results of the row before. Work-items of a GPU share each row and wait for each other at its
 * end. On a CPU the work-item with HAS_ROWS goes through all of them alone: PoCL 5.0 aborts on barriers in a loop with
 * branches. */
#define HAS_ROWS (get_local_id(0) == 0)
#define EACH_LANE_OF_ROW(lane, begin, end, body)                                                                       \
    {                                                                                                                  \
        IN_WHOLE_VECTORS for (lane_t lane = (begin); lane < (end); lane++) {                                           \
            body;                                                                                                      \
        }                                                                                                              \
    }
#define FOR_LANES_OF_ROW(lane, count) for (int lane = 0; lane < (count); lane++)
/* Whether it pays to look through all lanes of the rows for those at both ends that can be left out. */
#define ROWS_ARE_CUT 1
#define END_OF_ROW
#define ROWS_END_WITH_BARRIER 0

/* A condition that saves work for a few lanes: always true where a branch would prevent vectors. Stores likewise. */
#define WORTH_A_BRANCH(condition) 1
#define STORE_IF(condition, place, value) place = (condition) ? (value) : place;

/* Whether all work-items of a group may return before a barrier of the kernel (reduce.h). */
#define MAY_RETURN_EARLY 0
/* Whether a work-group has so many work-items that run side by side. */
#define GROUP_RUNS(items) 0

/* Maxima over a work-group, which are exact in any order; of each `lanes` has one value a lane, for vectors. */
#define BEGIN_MAXIMA(lanes, count)           \
    FOR_LANES(lane_, (count) * LANES)        \
        (lanes)[lane_] = 0;
#define ADD_TO_MAXIMUM(lanes, lane, value, in_bits) (lanes)[lane] = larger((lanes)[lane], value);
#define ADD_TO_LANE ADD_TO_MAXIMUM
#define KEEP_MAXIMUM(lanes, in_bits)
#define END_MAXIMA(lanes, count, in_bits)                                                                              \
    FOLD(LANES, for (int fold_ = 0; fold_ < (count); fold_++) FOLD_STEP((lanes) + fold_ * LANES, left_, larger))

#else

typedef int lane_t;
#define LANE_MARGIN 1
#define EACH_LANE(lane, count, body) FOR_LANES(lane, count) { body; }
#define EACH_LANE_IN_ROWS(row, lane, rows, count, body)                                                                \
    FOR_LANES(each_, (rows) * (count)) {                                                                               \
        const int row = each_ / (count), lane = each_ - row * (count);                                                 \
        body;                                                                                                          \
    }
#define HAS_ROWS 1
#define EACH_LANE_OF_ROW(lane, begin, end, body)                                                                       \
    for (int lane = (begin) + (int)get_local_id(0); lane < (end); lane += (int)get_local_size(0)) {                    \
        body;                                                                                                          \
    }
#define ROWS_ARE_CUT 0
#define FOR_CELLS_ALIKE(active, i, j, lane, codes, usual) FOR_CELLS(active, i, j, lane)
#define FOR_COLUMNS_ALIKE(c, wide, first, high, chunk, end_of_those_alike) FOR_COLUMNS(c, wide, first, high, chunk)
#define CODE_HERE(code, usual) code
#define EACH_CELL_ALIKE(i, j, codes, usual) CELL(i, j);
#define FOR_LANES_OF_ROW FOR_LANES
#define END_OF_ROW barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#define ROWS_END_WITH_BARRIER 1
#define WORTH_A_BRANCH(condition) (condition)
#define STORE_IF(condition, place, value)                                                                              \
    if (condition)                                                                                                     \
        place = value;
#ifdef POCL_DEVICE_ADDRESS_BITS /* PoCL 3.1 hangs or computes wrong results (reduce.h) */
#define MAY_RETURN_EARLY 0
#else
#define MAY_RETURN_EARLY 1
#endif
#define GROUP_RUNS(items) (get_local_size(0) >= (items))

/* Each work-item keeps a maximum of its own in a register, as bits: values are not negative, whose order is that of
 * their bits, with infinity and NaN behind all others. in_bits: whether to compare bits or numbers; the maximum is the
 * same. For bits NVIDIA's compiler loads all sixteen of a fold at once, and takes registers for them. */
#if REAL_BYTES == 8
typedef ulong bits_t;
#define TO_BITS as_ulong
#define FROM_BITS as_double
#else
typedef uint bits_t;
#define TO_BITS as_uint
#define FROM_BITS as_float
#endif
static inline bits_t larger_bits(bits_t largest, real value, int in_bits)
{
    return in_bits ? max(largest, TO_BITS(value)) : TO_BITS(larger(FROM_BITS(largest), value));
}
#define BEGIN_MAXIMA(lanes, count) bits_t largest_ = 0;
#define ADD_TO_MAXIMUM(lanes, lane, value, in_bits) largest_ = larger_bits(largest_, value, in_bits);
/* It goes to the lanes, and the next one begins. */
#define KEEP_MAXIMUM(lanes, in_bits)                                                                                   \
    FOR_LANES(lane_, LANES)                                                                                            \
        (lanes)[lane_] = lane_ == (int)get_local_id(0) ? FROM_BITS(largest_) : 0;                                      \
    largest_ = 0;
/* To one that is there, in a lane of the work-item's own. */
#define ADD_TO_LANE(lanes, lane, value, in_bits)                                                                       \
    (lanes)[lane] = FROM_BITS(larger_bits(TO_BITS((lanes)[lane]), value, in_bits));
#define END_MAXIMA(lanes, count, in_bits) fold_maxima(lanes, count, in_bits);
static inline void fold_maxima(local acc *lanes, int count, int in_bits)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int width = LANES / 16; width > 0; width /= 16) { /* 16 at a time: few barriers */
        FOR_LANES(l, count * width) {
            local acc *at = lanes + (count > 1 ? l / width * LANES + l % width : l);
            if (in_bits) {
                bits_t most = 0;
                for (int n = 0; n < 16; n++)
                    most = max(most, TO_BITS(at[n * width]));
                at[0] = FROM_BITS(most);
            } else { /* by way of local memory: one load after the other */
                for (int n = 1; n < 16; n++)
                    at[0] = larger(at[0], at[n * width]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#endif

/* FOR_CELLS (reduce.h) for few cells of a block that begins in the row `top`: the loop over rows is not unrolled. */
#define FOR_FEW_CELLS(active, top, i, j, lane)                                                                         \
    for (int lane = (int)get_local_id(0), i = block_first() + lane, end_ = min(block_first() + BLOCK_NX, NX);          \
         i < end_; lane += (int)get_local_size(0), i += (int)get_local_size(0))                                        \
        for (int j = top, rows_ = (active) ? min(j + BLOCK_NY, NY) : 0; j < rows_; j++)

/* This work-item's entries of a list; `lane`, one that no other work-item writes to meanwhile, for ADD_TO_MAXIMUM. */
#define FOR_ENTRIES(n, count, lane)                                                                                    \
    for (int lane = (int)get_local_id(0), n = lane < LANES ? lane : (count); n < (count);                              \
         n += min((int)get_local_size(0), LANES))

/* Of the blocks of the whole grid the one dx, dy blocks from that of this work-group's that begins in the row `top`;
 * -1: there is none. */
static inline int block_beside(int top, int dx, int dy)
{
    int x = (X0 + block_first()) / BLOCK_NX + dx, y = (Y0 + top) / BLOCK_NY + dy;
    if (PERIODIC_X)
        x = x < 0 ? x + SUM_BLOCKS_X : x >= SUM_BLOCKS_X ? x - SUM_BLOCKS_X : x;
    if (PERIODIC_Y)
        y = y < 0 ? y + SUM_BLOCKS_Y : y >= SUM_BLOCKS_Y ? y - SUM_BLOCKS_Y : y;
    const int outside = x < 0 || x >= SUM_BLOCKS_X || y < 0 || y >= SUM_BLOCKS_Y;
    return outside ? -1 : ((Z0 + block_k()) * SUM_BLOCKS_Y + y) * SUM_BLOCKS_X + x;
}
