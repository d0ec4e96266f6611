/* compile_aside.c: lists the programs of simulations by making them without compiling, and hands them out to children.
 */
#include "run/compile_aside.h"

#include "api/embedded_files.h"
#include "api/program.h"
#include "output/progress.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What a child is sent: sizes with the NUL, then name, options and text one behind the other; sizes of zero: go on. It
 * answers with a byte when it can begin and after each program, and another one when its test has passed. Before, a
 * byte lets it open the device. */
enum { NAME, OPTIONS, TEXT, PARTS, BYTES_MOST = 1 << 24 };
static const char ready_byte = 'r', passed_byte = 'p';

/* On an H200 a child's start takes the driver 0.07 s, one after the other; what a text has beyond the headers that all
 * begin with (reduce has little else) takes about 15 us a character; half of a direct solver, whose points are
 * unrolled, takes as long as if it had so many more; what is wanted first is wanted so much earlier as the test takes.
 */
enum { CHARACTERS_A_CHILD = 30000, SPECTRAL_CHARACTERS = 10000, TEST_CHARACTERS = 7000, CHILDREN_MOST = 64 };

typedef enum program_state { WAITING, BEGUN, ENDED } program_state;

struct bn_aside_program {
    char *message; /* the parts */
    size_t bytes[PARTS];
    uint64_t hash;
    size_t weight; /* its compiling, in characters: kernels that are left out are blanks */
    bool first;
    program_state state;
};

typedef struct adder {
    bn_aside *aside;
    bool first;
} adder;

static size_t count_characters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text != ' ' && *text != '\n';
    return count;
}

/* What takes longer first. */
static bool comes_before(const bn_aside_program *a, const bn_aside_program *b)
{
    return a->weight + (a->first ? TEST_CHARACTERS : 0) > b->weight + (b->first ? TEST_CHARACTERS : 0);
}

static void add_one(void *user, const char *name, const char *text, const char *options)
{
    const adder *to = user;
    bn_aside *a = to->aside;
    const char *const parts[PARTS] = { [NAME] = name, [OPTIONS] = options, [TEXT] = text };
    bn_aside_program new = { .hash = BN_HASH_START, .weight = count_characters(text), .first = to->first };
    new.weight += strstr(name, "spectral") ? SPECTRAL_CHARACTERS : 0;
    size_t all = 0;
    for (int i = 0; i < PARTS; i++) {
        new.bytes[i] = strlen(parts[i]) + 1;
        new.hash = bn_hash(new.hash, parts[i], new.bytes[i]);
        all += new.bytes[i];
    }
    for (size_t i = 0; i < a->count; i++)
        if (a->programs[i].hash == new.hash)
            return;
    if (a->count == a->room) {
        const size_t room = 2 * a->room + 16;
        bn_aside_program *grown = realloc(a->programs, room * sizeof *grown);
        if (!grown)
            return;
        a->programs = grown;
        a->room = room;
    }
    if (!(new.message = malloc(all)))
        return;
    for (size_t i = 0, end = 0; i < PARTS; end += new.bytes[i++])
        memcpy(new.message + end, parts[i], new.bytes[i]);
    size_t at = a->count++;
    for (; at > 0 && comes_before(&new, &a->programs[at - 1]); at--)
        a->programs[at] = a->programs[at - 1];
    a->programs[at] = new;
}

bool bn_aside_possible(bn_device *device) { return bn_device_list_programs(device, NULL); }

void bn_aside_add(bn_aside *a, bn_case *config, const bn_sim_desc *desc, bool first)
{
    adder to = { a, first };
    const bn_program_list list = { add_one, &to };
    bn_sim *sim = NULL;
    (void)bn_device_list_programs(desc->device, &list);
    if (bn_sim_create(a->ctx, config, desc, &sim) != BN_OK) /* fails again when it counts */
        bn_error_clear(a->ctx);
    bn_sim_destroy(&sim);
    (void)bn_device_list_programs(desc->device, NULL);
}

size_t bn_aside_children(const bn_aside *a, size_t least, size_t most)
{
    size_t least_weight = SIZE_MAX, sum = 0;
    for (size_t i = 0; i < a->count; i++)
        least_weight = a->programs[i].weight < least_weight ? a->programs[i].weight : least_weight;
    for (size_t i = 0; i < a->count; i++)
        sum += a->programs[i].weight - least_weight;
    size_t wish = 2 + sum / CHARACTERS_A_CHILD;
    wish = wish < a->count ? wish : a->count;
    most = most < CHILDREN_MOST ? most : CHILDREN_MOST;
    wish = wish < most ? wish : most;
    return wish > least ? wish : least;
}

uint64_t bn_aside_hash(const bn_aside *a)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < a->count; i++)
        if (!a->programs[i].first)
            hash = bn_hash(hash ? hash : BN_HASH_START, &a->programs[i].hash, sizeof a->programs[i].hash);
    return hash;
}

/* How many programs have not got so far. */
static size_t left(const bn_aside *a, program_state state, bool first)
{
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++)
        count += a->programs[i].state < state && (a->programs[i].first || !first);
    return count;
}

static bn_aside_program *begin_next(bn_aside *a, bn_child *c, bool first)
{
    for (size_t i = 0; i < a->count; i++) {
        bn_aside_program *p = &a->programs[i];
        if (p->state != WAITING || (first && !p->first))
            continue;
        p->state = BEGUN;
        if (bn_child_send(c, p->bytes, sizeof p->bytes))
            (void)bn_child_send(c, p->message, p->bytes[NAME] + p->bytes[OPTIONS] + p->bytes[TEXT]);
        return p;
    }
    return NULL;
}

/* A program that this process compiles in a thread. */
typedef struct own_program {
    bn_device *device;
    bn_aside_program *program;
    pthread_t thread;
    bool started;
    bn_status st;
} own_program;

static bn_status compile_parts(bn_device *device, const char *message, const size_t bytes[PARTS])
{
    return bn_program_compile(device, message, message + bytes[NAME] + bytes[OPTIONS], message + bytes[NAME]);
}

static void *compile_own(void *user)
{
    own_program *own = user;
    own->st = compile_parts(own->device, own->program->message, own->program->bytes);
    return NULL;
}

/* Nobody else is given the program. */
static void begin_own(bn_aside *a, own_program *own)
{
    if (!own->device || a->count == 0)
        return;
    own->program = &a->programs[0];
    own->started = pthread_create(&own->thread, NULL, compile_own, own) == 0;
    if (own->started)
        own->program->state = ENDED;
}

static void end_own(bn_aside *a, own_program *own)
{
    if (!own->started)
        return;
    (void)pthread_join(own->thread, NULL); /* fails only where there is no such thread */
    if (own->st != BN_OK)                  /* fails again for the one who wants the program */
        bn_error_clear(a->ctx);
}

/* Hands out programs until all are compiled that anybody has begun. */
static void hand_out(bn_aside *a, bn_child *children, size_t count, size_t users, double seconds)
{
    static const size_t go_on[PARTS];
    bn_aside_program *has[CHILDREN_MOST] = { NULL };
    bool idle[CHILDREN_MOST] = { false }, told[CHILDREN_MOST] = { false };
    const double start = bn_seconds_now();
    size_t opened = 0, ready = 0; /* children that may open the device, that have done so or ended */
    for (size_t untold = count; (left(a, ENDED, false) > 0 || untold > 0) && bn_seconds_now() - start < seconds;) {
        if (left(a, BEGUN, false) == 0 && opened >= users) /* no others are needed */
            for (untold -= count - opened; count > opened; count--)
                bn_child_kill(&children[count - 1]);
        if (opened < count && ready == opened)
            (void)bn_child_send(&children[opened++], "", 1);
        if (bn_child_poll(children, count) == 0)
            return;
        for (size_t i = 0; i < opened; i++) {
            const bool answered = bn_child_answered(&children[i]), ended = !children[i].running;
            if (i == ready && (answered || ended))
                ready++;
            if ((answered || ended) && has[i]) {
                has[i]->state = ENDED; /* or is lost with the child */
                has[i] = NULL;
            }
            if (ended && !told[i])
                untold--, told[i] = true;
            idle[i] = (idle[i] || answered) && !told[i];
        }
        for (size_t i = 0; i < opened; i++) {
            const bool go = i < users ? left(a, ENDED, true) == 0 : left(a, BEGUN, false) == 0;
            if (idle[i] && go) {
                (void)bn_child_send(&children[i], go_on, sizeof go_on); /* one that has ended is seen next time */
                untold--, told[i] = true;
                idle[i] = false;
            } else if (idle[i] && (has[i] = begin_next(a, &children[i], i < users && count > users))) {
                idle[i] = false;
            }
        }
    }
}

void bn_aside_compile(bn_aside *a, bn_child *children, size_t count, size_t users, double seconds, bn_device *own)
{
    own_program mine = { .device = own };
    begin_own(a, &mine);
    hand_out(a, children, count, users, seconds);
    end_own(a, &mine);
}

void bn_aside_release(bn_aside *a)
{
    for (size_t i = 0; i < a->count; i++)
        free(a->programs[i].message);
    free(a->programs);
    *a = (bn_aside){ .ctx = a->ctx };
}

bool bn_aside_passed(bn_child *c)
{
    while (c->answer != passed_byte && bn_child_answered(c))
        continue;
    return c->answer == passed_byte;
}

bn_status bn_aside_pass(bn_context *ctx)
{
    return bn_child_answer(&passed_byte, 1) ? BN_OK
                                            : bn_fail(ctx, BN_USAGE, "nobody hears that the self-test has passed");
}

bn_status bn_aside_wait(bn_context *ctx)
{
    char may;
    return bn_child_hear(&may, 1) ? BN_OK : bn_fail(ctx, BN_USAGE, "the self-test was not told to begin");
}

bn_status bn_aside_serve(bn_device *device, bn_context *ctx)
{
    size_t bytes[PARTS];
    for (;;) {
        if (!bn_child_answer(&ready_byte, 1) || !bn_child_hear(bytes, sizeof bytes))
            return bn_fail(ctx, BN_USAGE, "the self-test was not told to begin");
        size_t all = 0;
        for (int i = 0; i < PARTS; i++)
            all += bytes[i] < BYTES_MOST ? bytes[i] : 0;
        if (all == 0)
            return BN_OK;
        char *message = malloc(all);
        bool good = message && bn_child_hear(message, all);
        for (size_t i = 0, end = 0; i < PARTS && good; i++) {
            good = bytes[i] > 0 && bytes[i] < BYTES_MOST && message[(end += bytes[i]) - 1] == '\0';
        }
        bn_status st = good ? compile_parts(device, message, bytes)
                            : bn_fail(ctx, BN_USAGE, "what came on standard input is no program");
        free(message);
        if (!good)
            return st;
        if (st != BN_OK) /* fails again for the one who wants the program */
            bn_error_clear(ctx);
    }
}
