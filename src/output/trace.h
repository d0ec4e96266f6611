/* trace.h: a timeline of kernels and transfers, for chrome://tracing and ui.perfetto.dev. */
#ifndef BN_TRACE_H
#define BN_TRACE_H

#include "output/output_dir.h"

/* Writes trace.json: what the devices of a group opened for profiling did. */
BN_CHECKED bn_status bn_trace_write(bn_context *, bn_device *, bn_output_dir *);

#endif
