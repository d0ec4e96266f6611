// fft_kiss.cpp: KISS FFT, one dimension after the other: the reference of every transform, for any length. The C
// library of the distribution is single precision only; its template serves double.
#include "launch/fft_parts.h"

#include <kissfft.hh>
#include <new>
#include <vector>

extern "C" bool bn_kiss_transform(double *pairs, const size_t n[3], bool inverse)
{
    try {
        auto *values = reinterpret_cast<std::complex<double> *>(pairs);
        const size_t stride[3] = { 1, n[0], n[0] * n[1] }, total = n[0] * n[1] * n[2];
        for (int d = 0; d < 3; d++) {
            if (n[d] == 1)
                continue;
            kissfft<double> plan(n[d], inverse);
            std::vector<std::complex<double>> line(n[d]), image(n[d]);
            for (size_t first = 0; first < total; first++) {
                if (first / stride[d] % n[d] != 0)
                    continue;
                for (size_t i = 0; i < n[d]; i++)
                    line[i] = values[first + i * stride[d]];
                plan.transform(line.data(), image.data());
                for (size_t i = 0; i < n[d]; i++)
                    values[first + i * stride[d]] = image[i];
            }
        }
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    }
}
