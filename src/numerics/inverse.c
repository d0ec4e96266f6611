/* inverse.c: elimination by Gauss and Jordan. */
#include "numerics/inverse.h"

#include <math.h>

bool bn_inverse(double *m, size_t n)
{
    bool good = true;
    for (size_t p = 0; p < n; p++) {
        good = good && m[p * n + p] != 0 && isfinite(m[p * n + p]);
        if (m[p * n + p] == 0)
            continue;
        const double pivot = 1 / m[p * n + p];
        m[p * n + p] = 1;
        for (size_t c = 0; c < n; c++)
            m[p * n + c] *= pivot;
        for (size_t r = 0; r < n; r++) {
            const double factor = m[r * n + p];
            if (r == p || factor == 0)
                continue;
            m[r * n + p] = 0;
            for (size_t c = 0; c < n; c++)
                m[r * n + c] -= factor * m[p * n + c];
        }
    }
    return good;
}
