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
    double testing;      /* [s] of the setup: the self-test, with all that was compiled in processes of its own */
    double output_waits; /* of output: for frames that were not written yet */
    double bytes;        /* declared by launches of the steps */
    double bandwidth;    /* of copies on the device [B/s]; 0: unknown */
    unsigned long long resumed_from; /* step of the checkpoint; 0: the beginning */
    unsigned long long items_before; /* of bn_sim_now up to there */
    json_t *fields;                  /* bn_summary_hash_fields; owned until the summary is written */
    bool cut_short;                  /* the run ended before the end that its case asks for */
} bn_summary;

typedef enum bn_judgement { BN_NOT_JUDGED, BN_AS_EXPECTED, BN_NOT_AS_EXPECTED } bn_judgement;
/* Whether a result is what the case expects. Not judged without a tolerance, nor where the run was cut short: what is
 * expected is that of the end. */
bn_judgement bn_summary_judge(const bn_summary *, const bn_result_info *);

/* Whether the run has converged; null for a case that asks for no convergence. */
json_t *bn_summary_converged(bn_sim *);

/* Hashes of the fields, the last thing that a run asks of its device: a failure is known before the run is judged. What
 * could be read stays. */
BN_CHECKED bn_status bn_summary_hash_fields(bn_context *, bn_sim *, bn_summary *);
/* Also after a failure; then report.html, if the case asks for it. folder NULL: another rank writes. */
BN_CHECKED bn_status bn_summary_write(bn_context *, bn_sim *, bn_output_dir *folder, bn_summary *);

#endif
