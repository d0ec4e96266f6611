/* child.h: commands of this program in processes of their own: a driver may crash or hang. */
#ifndef BN_CHILD_H
#define BN_CHILD_H

#include "binnacle/context.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef enum bn_child_end { BN_CHILD_EXITED, BN_CHILD_CRASHED, BN_CHILD_HUNG } bn_child_end;

/* A child process; zeroed memory is none. */
typedef struct bn_child {
    pid_t pid;        /* 0: none was started */
    int socket;       /* connected with its standard input, both ways; -1: it has none */
    int output;       /* a pipe from its standard output; -1: closed */
    bool running;     /* else `end` and `code` tell how it ended */
    bn_child_end end; /* HUNG: it was killed */
    int code;         /* exit code, or the signal that ended it */
    char answer;      /* the last byte that came as an answer (bn_child_answered) */
    char *said;       /* its output up to now, NUL-terminated; at most 1 MiB is kept */
    size_t bytes;
} bn_child;

enum { BN_CHILD_SOCKET = 1, BN_CHILD_ERRORS = 2 }; /* flags: its input is a socket; stderr is kept with the output */

/* Starts `arguments` (NULL-terminated, the program's path first). Release the child also after a failure. */
BN_CHECKED bn_status bn_child_start(bn_context *, const char *const *arguments, unsigned flags, bn_child *out);
/* Waits a moment for output or the end of any of them; returns how many still run. */
size_t bn_child_poll(bn_child *, size_t count);
/* Sends a message of fixed size through the socket and waits, at most `seconds`, for an answer of fixed size. *answered
 * is false if it ended before or was killed then; BN_INTERRUPTED when `*stop` was set. */
BN_CHECKED bn_status bn_child_ask(bn_context *, const volatile sig_atomic_t *stop, bn_child *, const void *message,
                                  size_t bytes, double seconds, void *answer, size_t answer_bytes, bool *answered);
/* Whether a byte has come as an answer; takes it. */
bool bn_child_answered(bn_child *);
/* Sends without waiting for an answer; false if no process reads it any more. */
bool bn_child_send(bn_child *, const void *message, size_t bytes);
/* The child's half, on its standard input: false at the end of the conversation. */
bool bn_child_hear(void *message, size_t bytes);
bool bn_child_answer(const void *answer, size_t bytes);
/* Ends it by SIGKILL, if it still runs: then it counts as hung. */
void bn_child_kill(bn_child *);
/* Kills it, closes its channels and frees its output; `end` and `code` stay. */
void bn_child_release(bn_child *);

/* Runs a command to its end, for at most `seconds`. BN_INTERRUPTED when `*stop` was set: the child is killed. After a
 * success: release the child. */
BN_CHECKED bn_status bn_child_run(bn_context *, const volatile sig_atomic_t *stop, const char *const *arguments,
                                  double seconds, bn_child *out);

/* "crashed (signal 11)", "hung (signal 9)", "crashed (exit 1)" */
void bn_child_end_text(const bn_child *, char text[64]);
/* The status that a child's exit code stands for. */
bn_status bn_child_status(int code);

#endif
