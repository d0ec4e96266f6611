/* child.c: starts processes, reads what they write, and ends them in any case. */
#include "run/child.h"

#include "output/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAID_MAX = 1 << 20, POLL_MS = 50, REAP_MS = 2, POLLED_MAX = 128 };

static void close_channel(int *channel)
{
    if (*channel >= 0)
        close(*channel);
    *channel = -1;
}

/* The child's half of fork: only calls that are safe there. Channels of the parent are closed by execv, and a parent
 * that is killed takes it along. */
static void become(const char *const *arguments, pid_t parent, int input, int output, bool errors)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && (input < 0 || dup2(input, STDIN_FILENO) >= 0) &&
        dup2(output, STDOUT_FILENO) >= 0 && (!errors || dup2(output, STDERR_FILENO) >= 0))
        execv(arguments[0], (char *const *)arguments);
    _exit(127);
}

bn_status bn_child_start(bn_context *ctx, const char *const *arguments, unsigned flags, bn_child *c)
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 };
    bn_status st = BN_OK;
    *c = (bn_child){ .socket = -1, .output = -1, .said = calloc(1, SAID_MAX) };
    if (!c->said)
        return bn_fail(ctx, BN_MEMORY, "no memory for the output of a child process");
    fflush(stdout);
    if (pipe(out) != 0 || ((flags & BN_CHILD_SOCKET) && socketpair(AF_UNIX, SOCK_STREAM, 0, in) != 0))
        BN_GO(bn_fail(ctx, BN_IO, "no pipe to a child process: %s", strerror(errno)));
    const int all[] = { in[0], in[1], out[0], out[1] };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] >= 0) /* no other child holds them open */
            (void)fcntl(all[i], F_SETFD, FD_CLOEXEC);
    (void)fcntl(out[0], F_SETFL, O_NONBLOCK);
    const pid_t self = getpid();
    c->pid = fork();
    if (c->pid == 0)
        become(arguments, self, in[1], out[1], (flags & BN_CHILD_ERRORS) != 0);
    if (c->pid < 0) {
        c->pid = 0;
        st = bn_fail(ctx, BN_IO, "no child process: %s", strerror(errno));
        goto out;
    }
    c->running = true;
    c->socket = in[0];
    c->output = out[0];
    in[0] = out[0] = -1;
out:
    for (int i = 0; i < 2; i++) {
        close_channel(&in[i]);
        close_channel(&out[i]);
    }
    return st;
}

/* Reads what is there. What goes beyond SAID_MAX is dropped: no child waits for a reader. */
static void read_output(bn_child *c)
{
    char rest[4096] = "";
    while (c->output >= 0) {
        const bool full = c->bytes + 1 >= SAID_MAX;
        const ssize_t n = read(c->output, full ? rest : c->said + c->bytes,
                               full ? sizeof rest : SAID_MAX - 1 - c->bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            close_channel(&c->output);
        if (n <= 0)
            return;
        if (!full)
            c->said[c->bytes += (size_t)n] = '\0';
    }
}

/* Notes how it ended and reads what it wrote last. Another process may keep the pipe open: its end is not waited for.
 */
static void note_end(bn_child *c, int status)
{
    c->running = false;
    c->end = WIFSIGNALED(status) ? BN_CHILD_CRASHED : BN_CHILD_EXITED;
    c->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    read_output(c);
}

size_t bn_child_poll(bn_child *list, size_t count)
{
    struct pollfd watched[POLLED_MAX];
    size_t open = 0, running = 0;
    bool silent = false; /* one has closed its output and is about to end */
    for (size_t i = 0; i < count; i++) {
        silent = silent || (list[i].running && list[i].output < 0);
        if (list[i].running && list[i].output >= 0 && open < POLLED_MAX)
            watched[open++] = (struct pollfd){ .fd = list[i].output, .events = POLLIN };
        if (list[i].running && list[i].socket >= 0 && open < POLLED_MAX)
            watched[open++] = (struct pollfd){ .fd = list[i].socket, .events = POLLIN };
    }
    (void)poll(watched, open, silent ? REAP_MS : POLL_MS);
    for (size_t i = 0; i < count; i++) {
        int status;
        if (!list[i].running)
            continue;
        read_output(&list[i]);
        if (waitpid(list[i].pid, &status, WNOHANG) == list[i].pid)
            note_end(&list[i], status);
        running += list[i].running;
    }
    return running;
}

static bool send_all(int socket, const void *from, size_t bytes)
{
    for (const char *at = from; bytes > 0;) {
        const ssize_t n = send(socket, at, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* Adds to the *got bytes that are there; false: nothing more will come. */
static bool receive_some(int socket, int flags, char *to, size_t bytes, size_t *got)
{
    const ssize_t n = recv(socket, to + *got, bytes - *got, flags);
    if (n > 0)
        *got += (size_t)n;
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK));
}

bn_status bn_child_ask(bn_context *ctx, const volatile sig_atomic_t *stop, bn_child *c, const void *message,
                       size_t bytes, double seconds, void *answer, size_t answer_bytes, bool *answered)
{
    size_t got = 0;
    const double start = bn_seconds_now();
    bool open = send_all(c->socket, message, bytes);
    while (open && got < answer_bytes && !*stop) {
        const bool running = bn_child_poll(c, 1) > 0;
        open = receive_some(c->socket, MSG_DONTWAIT, answer, answer_bytes, &got) && running;
        if (bn_seconds_now() - start > seconds)
            bn_child_kill(c);
    }
    *answered = got == answer_bytes;
    while (!*answered && !*stop && bn_child_poll(c, 1) > 0) /* how did it end? */
        if (bn_seconds_now() - start > seconds)
            bn_child_kill(c);
    return *stop ? bn_fail(ctx, BN_INTERRUPTED, "interrupted") : BN_OK;
}

bool bn_child_answered(bn_child *c) { return c->socket >= 0 && recv(c->socket, &c->answer, 1, MSG_DONTWAIT) == 1; }

bool bn_child_send(bn_child *c, const void *message, size_t bytes) { return send_all(c->socket, message, bytes); }

bool bn_child_hear(void *message, size_t bytes)
{
    size_t got = 0;
    while (got < bytes && receive_some(STDIN_FILENO, 0, message, bytes, &got))
        continue;
    return got == bytes;
}

bool bn_child_answer(const void *answer, size_t bytes) { return send_all(STDIN_FILENO, answer, bytes); }

void bn_child_kill(bn_child *c)
{
    int status = 0;
    if (!c->running)
        return;
    kill(c->pid, SIGKILL);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    note_end(c, status);
    c->end = BN_CHILD_HUNG;
    c->code = SIGKILL;
}

void bn_child_release(bn_child *c)
{
    if (c->pid > 0) {
        bn_child_kill(c);
        close_channel(&c->socket);
        close_channel(&c->output);
    }
    free(c->said);
    *c = (bn_child){ .socket = -1, .output = -1, .end = c->end, .code = c->code };
}

bn_status bn_child_run(bn_context *ctx, const volatile sig_atomic_t *stop, const char *const *arguments, double seconds,
                       bn_child *out)
{
    const bn_status st = bn_child_start(ctx, arguments, 0, out);
    if (st != BN_OK)
        bn_child_release(out);
    BN_TRY(st);
    for (const double start = bn_seconds_now(); bn_child_poll(out, 1) > 0;)
        if (*stop || bn_seconds_now() - start > seconds)
            bn_child_kill(out);
    if (!*stop)
        return BN_OK;
    bn_child_release(out);
    return bn_fail(ctx, BN_INTERRUPTED, "interrupted");
}

void bn_child_end_text(const bn_child *c, char text[64])
{
    snprintf(text, 64, "%s (%s %d)", c->end == BN_CHILD_HUNG ? "hung" : "crashed",
             c->end == BN_CHILD_EXITED ? "exit" : "signal", c->code);
}

bn_status bn_child_status(int code)
{
    for (int s = 0; s < BN_STATUS_COUNT; s++)
        if (bn_exit_code((bn_status)s) == code)
            return (bn_status)s;
    return BN_DEVICE;
}
