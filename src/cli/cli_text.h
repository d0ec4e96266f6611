/* cli_text.h: how the program prints: tables for people, JSON for scripts. */
#ifndef BN_CLI_TEXT_H
#define BN_CLI_TEXT_H

#include "cli/options.h"
#include "output/json_text.h"
#include "output/text_table.h"

/* A device as JSON (`devices --json`). */
json_t *bn_cli_device_json(const bn_device_info *, bool chosen);
/* Prints the command's document on stdout and releases it; NULL: there was no memory to make it. */
BN_CHECKED bn_status bn_json_print(const bn_cli *, json_t *document);

#endif
