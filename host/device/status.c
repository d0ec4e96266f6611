/* status.c: texts and exit codes, expanded from the one list in binnacle/status.h. */
#include "binnacle/status.h"

static const struct {
    int code;
    const char *text;
} rows[] = {
#define BN_ROW(name, code, text) { code, text },
    BN_STATUS_LIST(BN_ROW)
#undef BN_ROW
};

int bn_exit_code(bn_status status) { return (unsigned)status < BN_STATUS_COUNT ? rows[status].code : 1; }

const char *bn_status_text(bn_status status)
{
    return (unsigned)status < BN_STATUS_COUNT ? rows[status].text : "unknown status";
}
