/* common_keys.c: the keys that every solver has. A solver's schema may name one of them again, with another default or
 * range. */
#include "schema.h"

#include <math.h>

const bn_key bn_common_keys[] = {
    { .name = "case.solver", .type = BN_KEY_TEXT, .required = true,
      .help = "name of a solver, as `binnacle --help` lists them" },
    { .name = "case.title", .type = BN_KEY_TEXT, .def_text = "", .help = "stands over pictures and in the summary" },
    { .name = "case.precision", .type = BN_KEY_CHOICE, .def_text = "single", .choices = "single|double",
      .help = "precision of all fields; double needs a device with fp64" },
    { .name = "case.seed", .type = BN_KEY_INT, .def = 1, .min = 0, .max = HUGE_VAL,
      .help = "seed of random numbers: same seed, same bits" },

    { .name = "output.every", .type = BN_KEY_INT, .def = 0, .min = 0, .max = HUGE_VAL,
      .help = "steps between outputs of fields and pictures; 0: only at the end" },
    { .name = "output.series_every", .type = BN_KEY_INT, .def = 10, .min = 1, .max = HUGE_VAL,
      .help = "steps between lines of series.csv" },
    { .name = "output.vtk", .type = BN_KEY_BOOL, .def = 1,
      .help = "write fields as VTK files, for ParaView and others" },
    { .name = "output.pictures", .type = BN_KEY_BOOL, .def = 1, .help = "write pictures as PNG files" },
    { .name = "output.first", .type = BN_KEY_BOOL, .def = 0, .help = "write the initial state too" },

    { .name = "stop.steps", .type = BN_KEY_INT, .def = 100000, .min = 1, .max = HUGE_VAL,
      .help = "the run ends after this many steps" },
    { .name = "stop.time", .type = BN_KEY_REAL, .unit = "s", .def = 0, .min = 0, .max = HUGE_VAL,
      .help = "the run ends at this simulated time; 0: no limit" },
    { 0 },
};
