/* test_fuzz.c: the seeds and past findings of every parser (tests/fuzz/corpus), and mutants of them, which a number
 * makes reproducible. No parser may crash, take more than five seconds, or fail without a message.
 *     test_fuzz [TARGET [MUTANTS [FIRST]]]
 * An input that fails is kept as build/fuzz-findings/TARGET-NUMBER; it belongs into the corpus once it is mended. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "targets.h"

#include "support.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    INPUT_MOST = 1 << 21,
    WORDS = 64,
    WORD_BYTES = 48,
    SECONDS = 5,
    FINDINGS = 3,
    MUTANTS = 200,
    MUTANTS_LONG = 20000
};

/* What a child that has died was at. */
static struct {
    long number;
    size_t bytes;
    char data[INPUT_MOST];
} * shared;

static struct {
    char text[WORD_BYTES];
    size_t bytes;
} words[WORDS];
static size_t word_count;

static uint64_t state;
static size_t below(size_t n) /* splitmix64 */
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (size_t)((z ^ z >> 31) % n);
}

static void read_words(const char *path)
{
    char line[256];
    FILE *f = fopen(path, "r");
    while (f && word_count < WORDS && fgets(line, sizeof line, f)) {
        if (line[0] != '"')
            continue;
        for (const char *at = line + 1; *at && *at != '"' && words[word_count].bytes < WORD_BYTES; at++) {
            unsigned byte = (unsigned char)*at;
            if (*at == '\\' && sscanf(at, "\\x%2x", &byte) == 1)
                at += 3;
            else if (*at == '\\')
                byte = (unsigned char)*++at;
            words[word_count].text[words[word_count].bytes++] = (char)byte;
        }
        word_count++;
    }
    if (f)
        fclose(f);
}

/* Puts `bytes` bytes in the place of `gone` bytes; what does not fit is left out. */
static void splice(size_t at, size_t gone, const char *text, size_t bytes)
{
    if (shared->bytes - gone + bytes > INPUT_MOST)
        return;
    memmove(shared->data + at + bytes, shared->data + at + gone, shared->bytes - at - gone);
    memcpy(shared->data + at, text, bytes);
    shared->bytes += bytes - gone;
}

/* A number or word of a text gives way to one of `words`. */
static void replace_word(void)
{
    static const char of_words[] = "0123456789.+-eEabcdfghijklmnopqrstuvwxyzABCDFGHIJKLMNOPQRSTUVWXYZ_";
    size_t at = below(shared->bytes), end;
    while (at > 0 && memchr(of_words, shared->data[at - 1], sizeof of_words - 1))
        at--;
    for (end = at; end < shared->bytes && memchr(of_words, shared->data[end], sizeof of_words - 1); end++)
        ;
    const size_t w = below(word_count);
    splice(at, end - at, words[w].text, words[w].bytes);
}

static void mutate_once(const bn_seed *other)
{
    static char copy[4096];
    const size_t n = shared->bytes, at = n ? below(n) : 0, far = n - at < 64 ? n - at : 64;
    const size_t some = far ? 1 + below(far) : 0, w = below(word_count);
    if (n == 0) {
        splice(0, 0, words[w].text, words[w].bytes);
        return;
    }
    switch (below(9)) {
    case 0: shared->data[at] = (char)(shared->data[at] ^ 1 << below(8)); break;
    case 1: shared->data[at] = (char)below(256); break;
    case 2: shared->bytes = at; break;
    case 3: splice(at, some, "", 0); break;
    case 4: splice(at, words[w].bytes < far ? words[w].bytes : far, words[w].text, words[w].bytes); break;
    case 5:
        memcpy(copy, shared->data + at, some);
        for (size_t i = below(20); i > 0; i--)
            splice(at, 0, copy, some);
        break;
    case 6:
        if (other->bytes > 0) {
            const size_t from = below(other->bytes), left = other->bytes - from;
            splice(at, some, other->data + from, left < sizeof copy ? 1 + below(left) : sizeof copy);
        }
        break;
    case 7: shared->data[below(n < 512 ? n : 512)] = (char)below(256); break; /* heads hold the sizes */
    default: replace_word(); break;
    }
}

/* Input `number`: a seed, or behind them a mutant. */
static void make_input(const bn_seed *seeds, size_t count, long number)
{
    state = (uint64_t)number * 1000003u;
    const bn_seed *s = &seeds[number < (long)count ? (size_t)number : below(count)];
    shared->number = number;
    shared->bytes = s->bytes;
    memcpy(shared->data, s->data, s->bytes);
    for (size_t i = number < (long)count ? 0 : 1 + below(4); i > 0; i--)
        mutate_once(&seeds[below(count)]);
}

/* Inputs from `first` to `last` in a process of their own; its end. */
static int give_all(const bn_target *t, const bn_seed *seeds, size_t count, long first, long last)
{
    static const struct itimerval limit = { .it_value = { SECONDS, 0 } };
    fflush(NULL);
    const pid_t child = fork();
    int end = -1;
    if (child == 0) {
        for (long i = first; i < last; i++) {
            make_input(seeds, count, i);
            setitimer(ITIMER_PROF, &limit, NULL);
            alarm(12 * SECONDS); /* waits take no processor time, and machines are busy */
            bn_target_give(t, shared->data, shared->bytes);
        }
        alarm(0);
        exit(EXIT_SUCCESS); /* with the leak sanitizer's look */
    }
    return child < 0 || waitpid(child, &end, 0) != child ? -1 : end;
}

static void keep(const bn_target *t, const char *home, int end)
{
    char path[4300];
    snprintf(path, sizeof path, "%s/build/fuzz-findings", home);
    (void)mkdir(path, 0777); /* the next call tells */
    snprintf(path, sizeof path, "%s/build/fuzz-findings/%s-%ld", home, t->name, shared->number);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(shared->data, 1, shared->bytes, f) != shared->bytes || fclose(f) != 0)
        perror(path);
    printf("FAILED: %s, input %ld: %s %d, kept as %s\n", t->name, shared->number,
           WIFSIGNALED(end) && (WTERMSIG(end) == SIGALRM || WTERMSIG(end) == SIGPROF) ? "more than five seconds, signal"
           : WIFSIGNALED(end)                                                         ? "signal"
                                                                                      : "exit",
           WIFSIGNALED(end) ? WTERMSIG(end) : WEXITSTATUS(end), path);
}

int main(int argc, char **argv)
{
    char home[4096];
    long tried = 0, failed = 0;
    const long mutants = argc > 2 ? atol(argv[2]) : long_tests() ? MUTANTS_LONG : MUTANTS;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("mmap");
        return EXIT_FAILURE;
    }
    read_words("tests/fuzz/words.dict");
    bn_target_begin(home);
    for (size_t i = 0; i < BN_TARGETS; i++) {
        const bn_target *t = &bn_targets[i];
        bn_seed *seeds;
        if (argc > 1 && strcmp(argv[1], t->name) != 0)
            continue;
        const size_t count = bn_target_seeds(t, home, &seeds);
        const long seeded = argc > 3 ? 0 : (long)count, first = argc > 3 ? (long)count + atol(argv[3]) : 0;
        const long last = (long)count + (argc > 3 ? atol(argv[3]) : 0) + mutants;
        long findings = 0;
        int end;
        if (count == 0 || word_count == 0) {
            printf("FAILED: no seeds for %s\n", t->name);
            failed++;
        }
        for (long from = first; count > 0 && from < last && findings < FINDINGS; from = shared->number + 1) {
            shared->number = from;
            if ((end = give_all(t, seeds, count, from, last)) == 0)
                break;
            keep(t, home, end);
            findings++;
        }
        printf("%-10s %ld seeds, %ld mutants, %ld failed\n", t->name, seeded, mutants, findings);
        tried += seeded + mutants;
        failed += findings;
        for (size_t s = 0; s < count; s++)
            free(seeds[s].data);
        free(seeds);
    }
    bn_target_end(home);
    printf("%ld passed, %ld failed\n", tried - failed, failed);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
