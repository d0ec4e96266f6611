/* cli_child.h: a command of this program in a process of its own: a driver may crash or hang. */
#ifndef BN_CLI_CHILD_H
#define BN_CLI_CHILD_H

#include "cli/options.h"

typedef enum bn_child_end { BN_CHILD_EXITED, BN_CHILD_CRASHED, BN_CHILD_HUNG } bn_child_end;

typedef struct bn_child_outcome {
    bn_child_end end;
    int code;   /* exit code, or the signal that ended it */
    char *said; /* its stdout, NUL-terminated; free() it */
} bn_child_outcome;

/* Runs `arguments` (NULL-terminated, the program first) and waits at most `seconds`. BN_INTERRUPTED when `cli->stop`
 * was set: the child is killed. stderr is shared. */
BN_CHECKED bn_status bn_child_run(const bn_cli *, const char *const *arguments, double seconds, bn_child_outcome *out);

/* The status that a child's exit code stands for. */
bn_status bn_child_status(int code);

#endif
