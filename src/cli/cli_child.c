/* cli_child.c: fork, exec, listen, and an end in any case. */
#include "cli/cli_child.h"

#include "output/progress.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAID_MAX = 1 << 20, POLL_MS = 50 };

/* Reads what is available; false at the end of the stream. Bytes beyond SAID_MAX are dropped. */
static bool listen_once(int channel, char *said, size_t *bytes)
{
    char rest[4096];
    bool full = *bytes + 1 >= SAID_MAX;
    ssize_t n = read(channel, full ? rest : said + *bytes, full ? sizeof rest : SAID_MAX - 1 - *bytes);
    if (n > 0 && !full)
        *bytes += (size_t)n;
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Waits until the child ends, the time is up, or a stop is asked for. A process that a driver started may hold the
 * stream open longer, so both are watched. */
static bn_status attend(const bn_cli *cli, pid_t child, int channel, double seconds, bn_child_outcome *out)
{
    double end = bn_seconds_now() + seconds;
    size_t bytes = 0;
    bool open = true, ended = false;
    int status = 0;
    bn_status st = BN_OK;
    while (!ended) {
        struct pollfd watched = { .fd = open ? channel : -1, .events = POLLIN };
        if (poll(&watched, 1, POLL_MS) > 0)
            open = listen_once(channel, out->said, &bytes);
        ended = waitpid(child, &status, WNOHANG) == child;
        if (!ended && (bn_seconds_now() > end || *cli->stop)) {
            out->end = BN_CHILD_HUNG;
            kill(child, SIGKILL);
            while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                continue;
            ended = true;
        }
    }
    while (open) { /* what it wrote last */
        struct pollfd watched = { .fd = channel, .events = POLLIN };
        open = poll(&watched, 1, 0) > 0 && listen_once(channel, out->said, &bytes);
    }
    out->said[bytes] = '\0';
    if (*cli->stop)
        st = bn_fail(cli->ctx, BN_INTERRUPTED, "interrupted");
    else if (out->end == BN_CHILD_HUNG)
        out->code = SIGKILL;
    else if (WIFSIGNALED(status))
        out->end = BN_CHILD_CRASHED, out->code = WTERMSIG(status);
    else
        out->code = WEXITSTATUS(status);
    return st;
}

bn_status bn_child_status(int code)
{
    for (int s = 0; s < BN_STATUS_COUNT; s++)
        if (bn_exit_code((bn_status)s) == code)
            return (bn_status)s;
    return BN_DEVICE;
}

bn_status bn_child_run(const bn_cli *cli, const char *const *arguments, double seconds, bn_child_outcome *out)
{
    int channel[2] = { -1, -1 };
    bn_status st = BN_OK;
    *out = (bn_child_outcome){ 0 };
    out->said = calloc(1, SAID_MAX);
    if (!out->said)
        return bn_fail(cli->ctx, BN_MEMORY, "no memory for the output of a child process");
    fflush(stdout);
    if (pipe(channel) != 0) {
        st = bn_fail(cli->ctx, BN_IO, "no pipe to a child process: %s", strerror(errno));
        goto out;
    }
    pid_t child = fork();
    if (child == 0) { /* only calls that are safe after fork */
        if (dup2(channel[1], STDOUT_FILENO) < 0)
            _exit(127);
        close(channel[0]);
        close(channel[1]);
        execv(cli->program, (char *const *)arguments);
        _exit(127);
    }
    close(channel[1]);
    if (child < 0)
        st = bn_fail(cli->ctx, BN_IO, "no child process: %s", strerror(errno));
    else
        st = attend(cli, child, channel[0], seconds, out);
    close(channel[0]);
out:
    if (st != BN_OK) {
        free(out->said);
        out->said = NULL;
    }
    return st;
}
