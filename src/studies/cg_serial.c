/* cg_serial.c: compiled with -O3 (Makefile). */
#include "cg_serial.h"

#include <stdlib.h>

#define REAL float
#define NAME(name) name##_single
#include "cg_serial_text.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(name) name##_double
#include "cg_serial_text.h"
