/* summary.h: summary.json, written last: case, device, speed, results. */
#ifndef BN_SUMMARY_H
#define BN_SUMMARY_H

#include "output/output_dir.h"
#include "sim/sim_parts.h"

#include <jansson.h>

typedef struct bn_summary {
    const bn_device_info *device; /* NULL: reference */
    const bn_device *devices;     /* the device and its group */
    int ranks;
    const char *selected_because, *selftest, *stopped_by;
    const char *error; /* NULL: none */
    bn_status status;
    size_t work_group[3];               /* {0}: the default */
    double total, setup, steps, output; /* [s]; the time of builds is the domain's */
    double bandwidth;                   /* of copies on the device [B/s]; 0: unknown */
    unsigned long long resumed_from;    /* step of the checkpoint; 0: the beginning */
    unsigned long long items_before;    /* cells updated up to there */
} bn_summary;

/* Whether the run has converged; null for a case that asks for no convergence. */
json_t *bn_summary_converged(bn_sim *);

/* Also after a failure. Where fields can't be read any more, the summary is written without their hashes, and the
 * status is that of reading them. */
BN_CHECKED bn_status bn_summary_write(bn_context *, bn_sim *, bn_output_dir *, const bn_summary *);

#endif
