/* fixed.h: sums of 64-bit integers that many work-items add to. Integers are exact, so that the order does not matter:
 * the same bits for any work-group and any device. Devices without 64-bit atomics (or a build with FIXED_TWO_WORDS) add
 * the two halves as 32-bit words, the low one first with its carry: between launches the 64-bit value is whole. */
#if HAS_INT64_ATOMICS && !defined(FIXED_TWO_WORDS)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
static inline void fixed_add(volatile global long *sum, long value) { atom_add(sum, value); }
#else
static inline void fixed_add(volatile global long *sum, long value)
{
    volatile global uint *word = (volatile global uint *)sum; /* OpenCL devices in use are little-endian */
    const uint low = (uint)(ulong)value;
    const uint before = atomic_add(word, low);
    const uint high = (uint)((ulong)value >> 32) + (before + low < low ? 1u : 0u);
    if (high != 0)
        atomic_add(word + 1, high);
}
#endif
