/* philox_probe.cl: the words that a counter and a key give, as the test hands them over. */
kernel void philox_words(global const int *restrict in, global int *restrict out)
{
    CELL(i, j);
    if (i == 0 && j == 0) {
        const uint4 counter = (uint4)((uint)in[0], (uint)in[1], (uint)in[2], (uint)in[3]);
        const uint4 words = philox(counter, (uint2)((uint)in[4], (uint)in[5]));
        out[FIRST] = (int)words.s0;
        out[FIRST + 1] = (int)words.s1;
        out[FIRST + 2] = (int)words.s2;
        out[FIRST + 3] = (int)words.s3;
    }
}
