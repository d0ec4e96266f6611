/* cg_serial.h: conjugate gradients on one core, on a matrix stored by diagonals, as somebody would write it today: what
 * a device is compared with. Not bit by bit equal to anything. */
#ifndef BN_CG_SERIAL_H
#define BN_CG_SERIAL_H

#include <stddef.h>

/* mass + k (4, -1, -1, -1, -1) on n x n nodes whose border is no unknown; `b` n * n, zero on the border. Starts from
 * zero and ends at |r| <= tolerance |b| or after `most` iterations. Returns how many; -1: no memory. */
long cg_serial_single(size_t n, double mass, double k, const double *b, double tolerance, long most, double *x);
long cg_serial_double(size_t n, double mass, double k, const double *b, double tolerance, long most, double *x);

#endif
