/* results_output.h: files of the results, when a run has ended. */
#ifndef BN_RESULTS_OUTPUT_H
#define BN_RESULTS_OUTPUT_H

#include "output/output_dir.h"

typedef struct bn_results_output {
    bn_context *ctx;
    bn_sim *sim;
    bn_output_dir *folder;
    bool pictures, vtk, tiff;
} bn_results_output;

/* Tables as CSV, maps as pictures, VTK and TIFF, texts, charts of the tables. The first failure counts, but the rest is
 * written all the same. */
BN_CHECKED bn_status bn_results_output_write(const bn_results_output *);

/* For those who write all the same. */
void bn_keep_first(bn_status *, bn_status next);

#endif
