/* slow_probe.cl: a launch that takes a known number of operations, each of which waits for the one before. */
kernel void slow_probe(global uint *number, int operations)
{
    CELL(i, j);
    uint x = number[AT(i, j)] | 1u;
    for (int k = 0; k < operations; k++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    number[AT(i, j)] = x;
}
