/* cli_report.h: `binnacle devices --report FILE`: what a report about a device needs. */
#ifndef BN_CLI_REPORT_H
#define BN_CLI_REPORT_H

#include "binnacle/device.h"
#include "cli/options.h"

/* Runs the self-test of every solver in both precisions and one row of `bench` for each, all in child processes, on the
 * `count` devices with these indices, and writes the outcome with the compiler's logs to the file of --report. A device
 * that fails is no failure of the report. */
BN_CHECKED bn_status bn_cli_report(const bn_cli *, const bn_device_info *all, const size_t *indices, size_t count);

#endif
