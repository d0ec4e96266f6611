/* suggest.c: "did you mean". */
#include "suggest.h"

#include "schema.h"

#include <string.h>

enum { WORD_MAX = 63 }; /* longer words than any name: no suggestion */

static char lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Optimal string alignment distance, without regard to case: insertions, deletions, substitutions, and swaps of
 * neighbours. Damerau, Commun. ACM 7 (1964) 171. */
static size_t distance(const char *a, size_t m, const char *b, size_t n)
{
    size_t rows[3][WORD_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= n; j++)
        last[j] = j;
    for (size_t i = 1; i <= m; i++) {
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = smallest(last[j] + 1, row[j - 1] + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = smallest(row[j], before[j - 2] + 1, row[j]);
        }
        size_t *spare = before;
        before = last, last = row, row = spare;
    }
    return last[n];
}

bool bn_nearer(const char *word, const char *name, size_t name_bytes, size_t *best)
{
    size_t bytes = strlen(word), longer = bytes > name_bytes ? bytes : name_bytes;
    if (longer > WORD_MAX)
        return false;
    size_t d = distance(word, bytes, name, name_bytes);
    if (d > (longer + 1) / 3 || d >= *best) /* a third of the letters wrong is the most that still looks like a slip */
        return false;
    *best = d;
    return true;
}

const char *bn_suggest(const char *word, const char *const *names)
{
    const char *best_name = NULL;
    size_t best = BN_NEAR_NONE;
    for (; *names; names++)
        if (bn_nearer(word, *names, strlen(*names), &best))
            best_name = *names;
    return best_name;
}
