/* even.c: linear interpolation from uneven to even nodes. */
#include "plot/even.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* Along a side: more than the pixels of a picture. */
enum { EVEN_MOST = 1537 };

static uint32_t count_along(const double *place, uint32_t n)
{
    double least = (double)INFINITY;
    for (uint32_t i = 0; i + 1 < n; i++)
        least = fmin(least, place[i + 1] - place[i]);
    const double wish = ceil((place[n - 1] - place[0]) / least) + 1;
    return n >= EVEN_MOST ? n : (uint32_t)fmin(wish, EVEN_MOST);
}

/* The node below each place of m even ones, and the share of the one above. */
static void find_shares(const double *place, uint32_t n, uint32_t m, uint32_t *below, double *share)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < m; i++) {
        const double x = place ? place[0] + (place[n - 1] - place[0]) * i / (m - 1) : i;
        while (place && at + 2 < n && place[at + 1] <= x)
            at++;
        below[i] = place ? at : i;
        share[i] = place ? fmin(1, fmax(0, (x - place[at]) / (place[at + 1] - place[at]))) : 0;
    }
}

static double mix(double a, double b, double share) { return share > 0 ? a + share * (b - a) : a; }

double *bn_even_values(const double *values, const double *const place[2], uint32_t n[2], double h[2])
{
    const uint32_t from[2] = { n[0], n[1] };
    uint32_t to[2];
    for (int d = 0; d < 2; d++) {
        to[d] = place[d] ? count_along(place[d], n[d]) : n[d];
        if (place[d])
            h[d] = (place[d][n[d] - 1] - place[d][0]) / (to[d] - 1);
    }
    const size_t lines = (size_t)to[0] + to[1];
    double *out = malloc((size_t)to[0] * to[1] * sizeof *out), *share = malloc(lines * sizeof *share);
    uint32_t *below = malloc(lines * sizeof *below);
    if (out && share && below) {
        find_shares(place[0], from[0], to[0], below, share);
        find_shares(place[1], from[1], to[1], below + to[0], share + to[0]);
        for (size_t j = 0; j < to[1]; j++)
            for (size_t i = 0; i < to[0]; i++) {
                const double sx = share[i], sy = share[to[0] + j];
                const double *low = values + (size_t)below[to[0] + j] * from[0] + below[i],
                             *high = sy > 0 ? low + from[0] : low;
                out[j * to[0] + i] = mix(mix(low[0], sx > 0 ? low[1] : 0, sx), mix(high[0], sx > 0 ? high[1] : 0, sx),
                                         sy);
            }
        n[0] = to[0];
        n[1] = to[1];
    } else {
        free(out);
        out = NULL;
    }
    free(share);
    free(below);
    return out;
}
