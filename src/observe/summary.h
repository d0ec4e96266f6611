/* summary.h: summary.json, written last: what ran, where, how fast, and what it found. */
#ifndef BN_SUMMARY_H
#define BN_SUMMARY_H

#include "observe/folder.h"
#include "sim/sim_parts.h"

typedef struct bn_summary {
    const bn_device_info *device;   /* NULL: reference */
    const char *selected_because, *selftest, *stopped_by;
    const char *error;              /* NULL: none */
    bn_status status;
    int boxes;
    size_t work_group[3];
    double total, setup, steps, output; /* seconds; build is the domain's */
    double bandwidth;               /* [B/s]; 0: unknown */
} bn_summary;

BN_CHECKED bn_status bn_summary_write(bn_context *, bn_sim *, bn_folder *, const bn_summary *);

#endif
