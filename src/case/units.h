/* units.h: "532 nm" as a number in SI, by UDUNITS-2. */
#ifndef BN_UNITS_H
#define BN_UNITS_H

#include "binnacle/context.h"
#include "string_buffer.h"

typedef struct bn_units bn_units;

/* Loads the database of units, some milliseconds. BN_IO when it can't be found. */
BN_CHECKED bn_status bn_units_create(bn_context *, bn_units **out);
void bn_units_destroy(bn_units **);

/* Reads a number with a unit and converts it to `unit` ("": dimensionless). On failure false, and why. */
bool bn_units_read(const bn_units *, const char *text, const char *unit, double *value, bn_string *why);

#endif
