/* html_report.h: report.html, the page of a run: what it was, what came out, what it looks like. */
#ifndef BN_HTML_REPORT_H
#define BN_HTML_REPORT_H

#include "output/output_dir.h"
#include "sim/sim_parts.h"

#include <jansson.h>

/* Written last, from the document of summary.json and the files that the run has left; pictures and tables are named
 * by their place beside the page, which keeps it small: the folder travels as a whole. */
BN_CHECKED bn_status bn_html_report_write(bn_context *, bn_sim *, bn_output_dir *, const json_t *summary);

#endif
