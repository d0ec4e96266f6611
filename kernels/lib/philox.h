/* philox.h: random numbers without a state: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011). Four words for every
 * counter and key: whoever asks for the same ones gets the same, on any device and in any order. */
static inline uint4 philox(uint4 counter, uint2 key)
{
    for (int round = 0; round < 10; round++) {
        const uint high0 = mul_hi(0xD2511F53u, counter.s0), low0 = 0xD2511F53u * counter.s0;
        const uint high1 = mul_hi(0xCD9E8D57u, counter.s2), low1 = 0xCD9E8D57u * counter.s2;
        counter = (uint4)(high1 ^ counter.s1 ^ key.s0, low1, high0 ^ counter.s3 ^ key.s1, low0);
        key += (uint2)(0x9E3779B9u, 0xBB67AE85u);
    }
    return counter;
}

/* A word as a real in units of PHILOX_SCALE, 0.5 ... 2^32 - 0.5 as far as the precision goes: never 0. */
#define PHILOX_SCALE REAL(2.3283064365386963e-10) /* 2^-32 */
static inline real philox_word(uint w) { return (real)w + REAL(0.5); }

/* Uniform in [0, 1): 24 bits, exact in both precisions. */
static inline real philox_real(uint w) { return (real)(w >> 8) * REAL(5.9604644775390625e-08); }
