/* real.h: the floating-point type of the build and the switches that give the same bits everywhere.
 * Contraction is off: a * b + c rounds twice on every device; where one rounding is wanted the kernel says fma(). */
#pragma OPENCL FP_CONTRACT OFF

/* Where a device's compiler adds up the products of a loop in another order: operations that might trap it must leave
 * where they are. */
#ifdef LOOPS_LOSE_ORDER
#pragma clang fp exceptions(strict)
#endif

/* Where a device's compiler lets too many work-items share the registers of a thread, the host says how many may. */
#ifdef SUB_GROUP
#define kernel __attribute__((intel_reqd_sub_group_size(SUB_GROUP))) __kernel
#endif

#if REAL_BYTES == 8
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double2 real2;
typedef double4 real4;
typedef double8 reals; /* 512 bits, for kernels that write vectors out */
#define REAL(x) x
#else
typedef float real;
typedef float2 real2;
typedef float4 real4;
typedef float16 reals;
#define REAL(x) x##f /* no literal of type double reaches a device without fp64 */
#endif

/* Where less is taken for nothing: numbers that decay further become ones for which a CPU takes many times as long, and
 * which some devices do not have. */
#if REAL_BYTES == 8
#define LEAST REAL(0x1p-900)
#else
#define LEAST REAL(0x1p-100)
#endif

/* The type of sums that decide; the same as real, so that devices without fp64 give the same bits. */
typedef real acc;

/* Not finite, by the exponent's bits: survives options that assume finite mathematics. */
static inline int not_finite(real x)
{
#if REAL_BYTES == 8
    return (as_ulong(x) & 0x7ff0000000000000UL) == 0x7ff0000000000000UL;
#else
    return (as_uint(x) & 0x7f800000U) == 0x7f800000U;
#endif
}
