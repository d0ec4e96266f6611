/* bpm_serial.h: the iteration of Alekseev and Golovashkin (2010) on one core, as somebody would write it today: what a
 * device is compared with. Not bit by bit equal to anything. */
#ifndef BN_BPM_SERIAL_H
#define BN_BPM_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

/* x <- P x + tau b with P = E - tau A stored by diagonals, and A = 1 + i alpha (2, -1, -1) of a Crank-Nicolson step;
 * complex numbers as two arrays, so that compilers find vectors. */
typedef struct bpm_serial {
    uint32_t n; /* unknowns */
    float *memory;
    float *diagonal[2], *above[2], *below[2], *b[2], *x[2], *next[2]; /* real and imaginary parts */
} bpm_serial;

/* A waveguide of 10 um at a wavelength of 1 um in `cells` intervals, the step along z a cell's width over pi; tau is
 * the paper's 1 / (1 + 2 i alpha), b the lowest mode, x zero. False: no memory. */
bool bpm_serial_create(uint32_t cells, bpm_serial *out);
void bpm_serial_destroy(bpm_serial *);
double bpm_serial_alpha(uint32_t cells);
void bpm_serial_sweep(bpm_serial *, long long count);

#endif
