/* maxwell_layouts.h: the iteration of the solver `maxwell` as it was published (N. Apelt, bachelor thesis, Erlangen
 * 2011): every cell has a record of its own with all fields split and with their coefficients, stored as an array of
 * structures or as a structure of arrays. binnacle bench --suite seed-001 measures both beside the solver. */
#ifndef BN_MAXWELL_LAYOUTS_H
#define BN_MAXWELL_LAYOUTS_H

#include "solvers/maxwell/maxwell.h"

/* Complex numbers of a record of E or H: parts, their factors t, their factors c, the source. */
enum { MAXWELL_RECORD = 20, MAXWELL_FACTORS_T = 6, MAXWELL_FACTORS_C = 12, MAXWELL_RECORD_SOURCE = 18 };

#define MAXWELL_LAYOUTS(X) X(MAXWELL_AOS, "aos") X(MAXWELL_SOA, "soa")
typedef enum maxwell_layout { MAXWELL_LAYOUTS(BN_CHOICE_ENUM) } maxwell_layout;

typedef struct maxwell_layouts {
    maxwell_model model;
    maxwell_layout layout;
    double epsilon;
    int watch_every;
    unsigned long long steps;
    double residual;
    double change, size; /* largest |change|^2 and |E|^2 of the last look */
    bn_field *E, *H, *record_E, *record_H;
    bn_kernel *step_H, *step_E, *add_parts, *maxima;
    bn_partials *partials;
    bn_scalars *scalars;
} maxwell_layouts;

/* Whether the step after those done so far ends with a look at the change. */
bool maxwell_layouts_watches(const maxwell_layouts *);
void maxwell_layouts_report(maxwell_layouts *, bool watched, bn_step *out);

extern const bn_engine bn_maxwell_layouts_reference_single, bn_maxwell_layouts_reference_double;

#endif
