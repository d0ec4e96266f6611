/* report.h: messages of a run at its beginning and end, for people on stderr, for scripts on stdout. */
#ifndef BN_REPORT_H
#define BN_REPORT_H

#include "output/progress.h"
#include "output/summary.h"

/* What runs, where, how large. `folder`: where the output goes. */
void bn_report_begin(bn_sim *, const bn_summary *, const char *folder);

/* Steps, seconds, the results, and where the files are. */
void bn_report_end(bn_sim *, const bn_summary *, const char *folder);

/* Time of each kernel. `limit`: copy bandwidth of the device [B/s]; 0: unknown. */
void bn_report_profile(bn_sim *, double limit);

/* The last JSON line. Simulation and output directory are NULL when the run failed before they were made. */
void bn_report_json_end(bn_context *, bn_sim *, bn_output_dir *, bn_status);

#endif
