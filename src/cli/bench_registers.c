/* bench_registers.c: registers of a kernel, from what NVIDIA's compiler says, and what they leave of the warps that a
 * compute unit can hold. */
#include "cli/bench_suites.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The log has "entry function 'NAME' for 'sm_90'" and, before the next one, "Used 40 registers". */
bool bn_bench_registers(const char *log, const char *kernel, unsigned *registers, unsigned *architecture)
{
    static const char entry[] = "entry function '";
    const size_t length = strlen(kernel);
    for (const char *p = strstr(log, entry); p; p = strstr(p, entry)) {
        p += sizeof entry - 1;
        const char *next = strstr(p, entry), *used = strstr(p, "Used "), *unit = strstr(p, "'sm_");
        if (strncmp(p, kernel, length) != 0 || p[length] != '\'' || !used || (next && used > next) ||
            sscanf(used, "Used %u registers", registers) != 1)
            continue;
        if (!unit || unit > used || sscanf(unit, "'sm_%u", architecture) != 1)
            *architecture = 0;
        return true;
    }
    return false;
}

/* Numbers of NVIDIA's CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". A warp's registers
 * come in units of 256 and lie in one of four parts of 16,384; from 8.0 on each group takes 1 KiB of local memory more.
 */
double bn_bench_occupancy(unsigned architecture, unsigned registers, size_t group, uint64_t local)
{
    static const struct {
        unsigned architecture, warps, groups, kib;
    } units[] = {
        { 30, 64, 16, 48 },  { 35, 64, 16, 48 },  { 37, 64, 16, 112 },  { 50, 64, 32, 64 },   { 52, 64, 32, 96 },
        { 53, 64, 32, 64 },  { 60, 64, 32, 64 },  { 61, 64, 32, 96 },   { 62, 64, 32, 64 },   { 70, 64, 32, 96 },
        { 72, 64, 32, 96 },  { 75, 32, 16, 64 },  { 80, 64, 32, 164 },  { 86, 48, 16, 100 },  { 87, 48, 16, 164 },
        { 89, 48, 24, 100 }, { 90, 64, 32, 228 }, { 100, 64, 32, 228 }, { 120, 48, 24, 100 },
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (units[i].architecture != architecture || group == 0 || registers == 0)
            continue;
        const size_t warps = (group + 31) / 32, each = (registers * 32 + 255) / 256 * 256;
        const uint64_t taken = local + (architecture >= 80 ? 1024 : 0);
        double groups = fmin(units[i].groups, (double)(4 * (16384 / each) / warps));
        groups = fmin(groups, (double)(units[i].warps / warps));
        if (taken > 0)
            groups = fmin(groups, floor(1024.0 * units[i].kib / (double)taken));
        return 100 * groups * (double)warps / units[i].warps;
    }
    return (double)NAN;
}
