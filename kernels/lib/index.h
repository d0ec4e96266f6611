/* index.h: where a cell stands. The host injects, for every distinct box shape:
 *   NX NY NZ        cells of the box (1 in dimensions that are not there)
 *   HALO            cells around the box in every dimension that is there
 *   PITCH PLANE     elements from row to row, and of one component with all of its padding
 *   FIRST           element of cell (0, 0, 0)
 *   SLICE           elements from layer to layer (3-D)
 *   GNX GNY GNZ     cells of the whole grid
 *   SUM_BLOCKS_X    reduction blocks of the whole grid along x, SUM_BLOCKS_Y along y; PARTIALS = SUM_BLOCKS_X *
 *                   SUM_BLOCKS_Y * GNZ; TOTALS values a total is formed from (reduce.h)
 *   TILE_X TILE_Y TILE_LAYERS    items of a work-group of range BN_PER_TILE and the layers it goes through
 *   REAL_BYTES      4 or 8;  INDEX_BITS 32 or 64
 *   SUB_GROUP       only where the device needs it: work-items that share a thread's registers (real.h)
 *   HAS_FP64 HAS_INT64_ATOMICS IS_CPU   facts of the device, 0 or 1
 *   LOOPS_END       only where a device ends all loops of a work-item after so many turns (bn_kernel_rounds)
 * and the solver's own constants. The box's place in the grid is the launch's global offset, so that boxes of the same
 * shape on one device share one program.
 *
 *   one component of one box, HALO = 1:        o o o o o o          o halo or padding
 *                                              o c c c c o          c cells, x fastest
 *                                              o c c c c o   rows are PITCH apart
 *                                              o o o o o o */
/* On CPUs as wide as pointers: narrower ones may overflow, and compilers make no vectors, or gather their elements. */
#if INDEX_BITS == 64 || IS_CPU
typedef long index_t;
#else
typedef int index_t;
#endif

/* The parts of an int16 that holds the sizes of a box (BN_SIZES): of another grid than the kernel's, or of its own where
 * a program is one for grids of any size. */
#define SIZES_NX s0
#define SIZES_NY s1
#define SIZES_GNX s3
#define SIZES_GNY s4
#define SIZES_X0 s6 /* the box's first cell in the whole grid */
#define SIZES_Y0 s7
#define SIZES_Z0 s8
#define SIZES_PITCH s9
#define SIZES_SLICE sa
#define SIZES_FIRST sc
#if INDEX_BITS == 64 /* the plane may have more than 31 bits: the others stand in a part of their own */
#define SIZES_PLANE(sizes) ((index_t)(sizes).sd << 31 | (sizes).sb)
#else
#define SIZES_PLANE(sizes) (sizes).sb
#endif

/* The element of a cell of the box; -HALO <= i < NX + HALO and so on. Component c: AT(i, j) + c * PLANE. */
#define AT(i, j) (FIRST + (index_t)(j)*PITCH + (i))
#define AT3(i, j, k) (FIRST + (index_t)(k)*SLICE + (index_t)(j)*PITCH + (i))

/* The box's first cell in the whole grid. Where boxes lie on several devices each has a program of its own, which
 * knows its place (OFFSET_X ...): a launch may then cover a part of the box, the rest waiting for a halo. LAUNCH_X
 * ...: where that part begins in the box. */
#ifdef OFFSET_X
#define X0 OFFSET_X
#define Y0 OFFSET_Y
#define Z0 OFFSET_Z
#define LAUNCH_X ((int)get_global_offset(0) - X0)
#define LAUNCH_Y ((int)get_global_offset(1) - Y0)
#define LAUNCH_Z ((int)get_global_offset(2) - Z0)
#else
#define X0 ((int)get_global_offset(0))
#define Y0 ((int)get_global_offset(1))
#define Z0 ((int)get_global_offset(2))
#define LAUNCH_X 0
#define LAUNCH_Y 0
#define LAUNCH_Z 0
#endif

/* Where (i, j), which lies on this side of the grid (left, right, bottom, top), lies along it. It follows from both
 * coordinates, of which the side gives one: of a choice between X0 and Y0 LLVM makes one between the addresses of the
 * offsets, for which PoCL 3.1 then finds no symbol. */
#define ALONG_SIDE(side, i, j) (X0 + (i) + (Y0 + (j)) - ((side)&1) * (((side) < 2 ? GNX : GNY) - 1))

/* Where a kernel stores cell (i, j) transposed (BN_WRITE_TRANSPOSED): cell (j, i) of the whole other grid, whose box has
 * these sizes, if it is there. Only boxes that overlap have cells that are not. */
#define AT_TRANSPOSED(sizes, i, j)                                                             \
    ((sizes).SIZES_FIRST + (index_t)(X0 + (i) - (sizes).SIZES_Y0) * (sizes).SIZES_PITCH +      \
     (Y0 + (j) - (sizes).SIZES_X0))
#define IS_TRANSPOSED(sizes, i) ((uint)(X0 + (i) - (sizes).SIZES_Y0) < (uint)(sizes).SIZES_NY)

/* This work-item's cell; returns from the kernel outside the box, so that any work-group shape is right. No
 * barrier after it. */
#define CELL(i, j)                                             \
    const int i = (int)get_global_id(0) - X0;                  \
    const int j = (int)get_global_id(1) - Y0;                  \
    if (i >= NX || j >= NY)                                    \
    return
/* The same of a launch of several layers (bn_kernel_layers) in which a stretch of rows may be all that has work.
 * Threads of a CPU take long stretches of work-items: there neighbours have the rows of all layers in turn, a column
 * after the other, and all stretches get as much. */
#if IS_CPU
#define CELL_APART(i, j, layer)                                                                        \
    CELL(x_, y_);                                                                                      \
    const size_t item_ = (get_global_id(2) * NY + (size_t)y_) * NX + (size_t)x_;                       \
    const size_t column_ = get_global_size(2) * NY;                                                    \
    const int i = (int)(item_ / column_), j = (int)(item_ % NY);                                       \
    const uint layer = (uint)(item_ % column_ / NY)
#else
#define CELL_APART(i, j, layer) \
    CELL(i, j);                 \
    const uint layer = (uint)get_global_id(2)
#endif
#define CELL3(i, j, k)                                         \
    const int i = (int)get_global_id(0) - X0;                  \
    const int j = (int)get_global_id(1) - Y0;                  \
    const int k = (int)get_global_id(2) - Z0;                  \
    if (i >= NX || j >= NY || k >= NZ)                         \
    return

/* Values stay in registers only where numbers of loops are known; and PoCL mixes up the local memory of a kernel that is
 * the only one to call a function with a barrier. */
#define ALWAYS_INLINED static inline __attribute__((always_inline))

/* Tasks of a work-group in one dimension, as far as this work-item does them. */
#define FOR_ITEMS(t, count) for (int t = (int)get_local_id(0); t < (count); t += (int)get_local_size(0))

/* A long loop whose text stands once: compilers take minutes over what they unroll between barriers. */
#define ROLLED _Pragma("unroll 1")

/* A work-item may keep an array in registers across barriers (KEEPS_REGISTERS) if loops over it are UNROLLED. Not on CPUs:
 * PoCL 3.1 makes broken code of long unrolled loops between barriers, and Intel's compiler for CPUs (2026.2) computes
 * other values from what stays in registers across barriers, in subgroups of any width. */
#if IS_CPU
#define UNROLLED
#define UNROLLED_BY_8
#define LOADED_AGAIN 0
#define KEEPS_REGISTERS 0
#define LOADS_AT_ONCE 8 /* in the text of a loop; more overlap by themselves */
#define NEXT_WARP(item) (item)
#else
#define UNROLLED _Pragma("unroll")
/* Zero in launches of one layer, which no compiler knows: what is loaded from a place that much further is loaded
 * again, where otherwise all that a loop has loaded would stay in registers, or be spilled. */
#define LOADED_AGAIN ((int)get_num_groups(2) - 1)
#define UNROLLED_BY_8 _Pragma("unroll 8") /* so that loads overlap */
#define KEEPS_REGISTERS 1
#define LOADS_AT_ONCE 32
#define NEXT_WARP(item) (((item) + 31) / 32 * 32) /* the first from there on of work-items that branch for themselves */
#endif
