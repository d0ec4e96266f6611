/* device_thread.c: a ring of listed calls for each device, written by one thread and read by another without a lock.
 * Locks are there to sleep: who has nothing to do waits for a signal. */
#include "device/device_thread.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { BN_RING = 1024 };
/* How long a thread of a GPU checks again and again for what it waits for, letting other threads run, before it sleeps:
 * an idle processor takes longer to wake up than most of these waits. CPU devices need their processors themselves. */
static const double BN_LOOKS = 100e-6;

typedef struct bn_listed {
    bn_call *call;
    const char *what;
    _Alignas(16) unsigned char arguments[BN_CALL_BYTES];
} bn_listed;

typedef bool bn_ready(const void *of);

typedef struct bn_sleeper {
    pthread_mutex_t mutex;
    pthread_cond_t signal;
    atomic_bool asleep;
    double looks; /* before it sleeps [s] */
} bn_sleeper;

/* Of a group. */
typedef struct bn_crew {
    bn_sleeper caller;
    /* What the caller sleeps for, and of which thread: a signal after every call would take longer than the call. */
    _Atomic(bn_ready *) enough;
    _Atomic(const struct bn_device_thread *) awaited;
    unsigned long meetings;
    pthread_mutex_t mutex; /* of what follows, the first failure: */
    atomic_bool failed;
    bool told;
    const bn_device *device;
    cl_int status;
    const char *call, *what;
} bn_crew;

struct bn_device_thread {
    bn_device *device, *first; /* of the group */
    bn_crew *crew;
    pthread_t thread;
    bool started;
    bn_sleeper sleeper;
    atomic_bool ends;
    _Atomic unsigned long listed, made; /* calls so far */
    _Atomic unsigned long met;
    _Atomic unsigned long launches; /* listed */
    _Atomic unsigned long launched;
    _Atomic unsigned most;
    bn_listed *ring;
};

/* ----------------------------------------------------------------------------------------------------------- sleeping
 */

static void sleep_until(bn_sleeper *s, bn_ready *ready, const void *of)
{
    if (ready(of))
        return;
    for (const double end = bn_seconds_now() + s->looks; s->looks > 0 && bn_seconds_now() < end; sched_yield())
        if (ready(of))
            return;
    pthread_mutex_lock(&s->mutex);
    /* Before `ready` looks again: who makes it true looks at this afterwards. */
    atomic_store(&s->asleep, true);
    while (!ready(of))
        pthread_cond_wait(&s->signal, &s->mutex);
    atomic_store(&s->asleep, false);
    pthread_mutex_unlock(&s->mutex);
}

static void wake(bn_sleeper *s)
{
    if (!atomic_load(&s->asleep))
        return;
    pthread_mutex_lock(&s->mutex);
    pthread_cond_signal(&s->signal);
    pthread_mutex_unlock(&s->mutex);
}

/* The caller, for something of a thread. */
static void caller_sleeps_until(bn_ready *ready, const struct bn_device_thread *of)
{
    atomic_store(&of->crew->enough, ready);
    atomic_store(&of->crew->awaited, of);
    sleep_until(&of->crew->caller, ready, of);
}

/* Wakes the caller if it has what it sleeps for. Where that changes meanwhile, the caller has yet to look itself. */
static void wake_caller(bn_crew *c)
{
    if (atomic_load(&c->caller.asleep) && atomic_load(&c->enough)(atomic_load(&c->awaited)))
        wake(&c->caller);
}

static void init_sleeper(bn_sleeper *s, const bn_device *of)
{
    s->looks = of->info.cpu ? 0 : BN_LOOKS;
    pthread_mutex_init(&s->mutex, NULL); /* neither fails where memory is all that it takes */
    pthread_cond_init(&s->signal, NULL);
}

static void destroy_sleeper(bn_sleeper *s)
{
    pthread_mutex_destroy(&s->mutex);
    pthread_cond_destroy(&s->signal);
}

/* --------------------------------------------------------------------------------------------------------- the thread
 */

static bool has_work(const void *of)
{
    const struct bn_device_thread *t = of;
    return atomic_load(&t->listed) != atomic_load(&t->made) || atomic_load(&t->ends);
}

static void wake_all(const bn_device *first)
{
    for (size_t m = 0; m < first->group_size; m++)
        wake(&first->group[m]->thread->sleeper);
    wake(&first->thread->crew->caller);
}

static void note_failure(struct bn_device_thread *t, cl_int status, const char *call, const char *what)
{
    bn_crew *c = t->crew;
    pthread_mutex_lock(&c->mutex);
    if (!atomic_load(&c->failed)) {
        c->device = t->device;
        c->status = status;
        c->call = call;
        c->what = what;
        atomic_store(&c->failed, true);
    }
    pthread_mutex_unlock(&c->mutex);
    wake_all(t->first);
}

static void *make_calls(void *of)
{
    struct bn_device_thread *t = of;
    for (;;) {
        sleep_until(&t->sleeper, has_work, t);
        if (atomic_load(&t->ends))
            return NULL;
        const unsigned long made = atomic_load(&t->made);
        const bn_listed *l = &t->ring[made % BN_RING];
        const char *call = "OpenCL";
        const cl_int status = atomic_load(&t->crew->failed) ? CL_SUCCESS : l->call(t->device, l->arguments, &call);
        if (status != CL_SUCCESS)
            note_failure(t, status, call, l->what);
        atomic_store(&t->made, made + 1);
        wake_caller(t->crew);
    }
}

static bn_status start(bn_device *first, bn_device *d, bn_crew *crew)
{
    struct bn_device_thread *t = calloc(1, sizeof *t);
    if (!t || !(t->ring = calloc(BN_RING, sizeof *t->ring))) {
        free(t);
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the thread of %s", d->info.name);
    }
    d->thread = t;
    t->device = d;
    t->first = first;
    t->crew = crew;
    t->most = 1;
    init_sleeper(&t->sleeper, d);
    return BN_OK;
}

bn_status bn_threads_start(bn_device *first)
{
    if (first->group_size < 2)
        return BN_OK;
    for (size_t m = 0; m < first->group_size; m++)
        if (first->group[m]->profile || first->group[m]->quirks.single_threaded ||
            (m > 0 && first->group[m]->cl == first->cl))
            return BN_OK;
    bn_crew *crew = calloc(1, sizeof *crew);
    if (!crew)
        return bn_fail(first->ctx, BN_MEMORY, "no memory for threads of %zu devices", first->group_size);
    init_sleeper(&crew->caller, first);
    pthread_mutex_init(&crew->mutex, NULL);
    first->crew = crew;
    for (size_t m = 0; m < first->group_size; m++)
        BN_TRY(start(first, first->group[m], crew));
    sigset_t before;
    int error = 0;
    bn_hold_signals(&before); /* they are the caller's */
    for (size_t m = 0; error == 0 && m < first->group_size; m++) {
        struct bn_device_thread *t = first->group[m]->thread;
        error = pthread_create(&t->thread, NULL, make_calls, t);
        t->started = error == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0 ? BN_OK
                      : bn_fail(first->ctx, BN_MEMORY,
                                "cannot start a thread for each device: %s; allow more threads "
                                "(ulimit -u)",
                                strerror(error));
}

void bn_thread_end(bn_device *d)
{
    struct bn_device_thread *t = d->thread;
    if (t) {
        atomic_store(&t->ends, true);
        wake(&t->sleeper);
        if (t->started)
            pthread_join(t->thread, NULL);
        destroy_sleeper(&t->sleeper);
        free(t->ring);
        free(t);
        d->thread = NULL;
    }
    if (d->crew) {
        destroy_sleeper(&d->crew->caller);
        pthread_mutex_destroy(&d->crew->mutex);
        free(d->crew);
        d->crew = NULL;
    }
}

/* --------------------------------------------------------------------------------------------------------- the caller
 */

static bool all_made(const void *of)
{
    const struct bn_device_thread *t = of;
    return atomic_load(&t->made) == atomic_load(&t->listed);
}

static unsigned long not_made(const struct bn_device_thread *t)
{
    return atomic_load(&t->listed) - atomic_load(&t->made);
}

/* Where the caller has to wait at all, it does until it can list many calls. */
static bool has_much_room(const void *of) { return not_made(of) <= BN_RING / 2; }

static bool launches_within(const struct bn_device_thread *t, unsigned long most)
{
    return atomic_load(&t->launches) - atomic_load(&t->launched) <= most || atomic_load(&t->crew->failed);
}

static bool under_limit(const void *of)
{
    const struct bn_device_thread *t = of;
    return launches_within(t, (atomic_load(&t->most) + 1) / 2);
}

/* Tells the first failure once, when no thread makes a call any more. */
static bn_status tell_failure(const bn_device *device)
{
    bn_crew *c = device->thread->crew;
    const bn_device *first = device->thread->first;
    for (size_t m = 0; m < first->group_size; m++) {
        wake(&first->group[m]->thread->sleeper);
        caller_sleeps_until(all_made, first->group[m]->thread);
    }
    const bool told = c->told;
    c->told = true;
    if (!told)
        return bn_cl_fail(c->device, c->status, c->call, c->what);
    return bn_fail(device->ctx, BN_DEVICE, "%s failed before", c->device->info.name);
}

bn_status bn_call_list(bn_device *d, const char *what, bn_call *call, const void *arguments, size_t bytes, bool soon)
{
    struct bn_device_thread *t = d->thread;
    if (!t) {
        const char *name = "OpenCL";
        const cl_int status = call(d, arguments, &name);
        return status == CL_SUCCESS ? BN_OK : bn_cl_fail(d, status, name, what);
    }
    if (atomic_load(&t->crew->failed))
        return tell_failure(d);
    if (not_made(t) == BN_RING) {
        wake(&t->sleeper);
        caller_sleeps_until(has_much_room, t);
    }
    const unsigned long listed = atomic_load(&t->listed);
    bn_listed *l = &t->ring[listed % BN_RING];
    l->call = call;
    l->what = what;
    memcpy(l->arguments, arguments, bytes);
    atomic_store(&t->listed, listed + 1);
    if (!soon)
        wake(&t->sleeper);
    return BN_OK;
}

bn_status bn_calls_made(const bn_device *d)
{
    struct bn_device_thread *t = d->thread;
    if (!t)
        return BN_OK;
    wake(&t->sleeper);
    caller_sleeps_until(all_made, t);
    return atomic_load(&t->crew->failed) ? tell_failure(d) : BN_OK;
}

void bn_calls_settle(const bn_device *d)
{
    if (bn_calls_made(d) != BN_OK)
        return; /* it is the context's error */
}

cl_command_queue bn_queue(const bn_device *d)
{
    bn_calls_settle(d);
    return d->queue;
}

void bn_thread_limit(bn_device *d)
{
    struct bn_device_thread *t = d->thread;
    if (!t)
        return;
    atomic_fetch_add(&t->launches, 1);
    if (!launches_within(t, atomic_load(&t->most))) {
        wake(&t->sleeper);
        caller_sleeps_until(under_limit, t);
    }
}

void bn_thread_launched(bn_device *d, unsigned most)
{
    struct bn_device_thread *t = d->thread;
    if (!t)
        return;
    atomic_store(&t->most, most);
    atomic_fetch_add(&t->launched, 1);
}

/* ------------------------------------------------------------------------------------------------------------ meeting
 */

typedef struct bn_awaited {
    const bn_crew *crew;
    const _Atomic unsigned long *number;
    unsigned long value;
} bn_awaited;

static bool reached(const void *of)
{
    const bn_awaited *a = of;
    return atomic_load(a->number) >= a->value || atomic_load(&a->crew->failed);
}

void bn_thread_post(const bn_device *waits, _Atomic unsigned long *number, unsigned long value)
{
    atomic_store(number, value);
    if (waits->thread)
        wake(&waits->thread->sleeper);
}

void bn_thread_await(const bn_device *me, const _Atomic unsigned long *number, unsigned long value)
{
    if (me->thread)
        sleep_until(&me->thread->sleeper, reached, &(bn_awaited){ me->thread->crew, number, value });
}

typedef struct bn_meeting {
    unsigned long number;
    bool outgoing;
} bn_meeting;

static cl_int meet(bn_device *d, const void *arguments, const char **call)
{
    const bn_meeting *meeting = arguments;
    struct bn_device_thread *t = d->thread;
    *call = "clFinish";
    const cl_int status = clFinish(meeting->outgoing ? d->outgoing : d->queue);
    if (status != CL_SUCCESS)
        return status;
    atomic_store(&t->met, meeting->number);
    for (size_t m = 0; m < t->first->group_size; m++)
        wake(&t->first->group[m]->thread->sleeper);
    for (size_t m = 0; m < t->first->group_size; m++)
        bn_thread_await(d, &t->first->group[m]->thread->met, meeting->number);
    return CL_SUCCESS;
}

bn_status bn_threads_meet(bn_device *first, bool outgoing, const char *what, bool *met)
{
    *met = first->thread != NULL;
    if (!*met)
        return BN_OK;
    const bn_meeting meeting = { ++first->thread->crew->meetings, outgoing };
    for (size_t m = 0; m < first->group_size; m++)
        BN_TRY(bn_call_list(first->group[m], what, meet, &meeting, sizeof meeting, false));
    return BN_OK;
}
