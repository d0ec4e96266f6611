/* terrain.c: ESRI ASCII grids, and heights between the pixels (terrain.h). */
#include "io/terrain.h"

#include "io/decimal.h"
#include "io/file.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TEXT_BYTES = 1 << 30, WORD = 64 };

bn_status bn_terrain_create(bn_context *ctx, const char *path, double columns, double rows, bn_terrain *out)
{
    *out = (bn_terrain){ .epsg = 0 };
    if (!(columns >= 1 && rows >= 1 && columns * rows <= BN_TERRAIN_POINTS && columns == floor(columns) &&
          rows == floor(rows)))
        return bn_fail(ctx, BN_CASE, "%s: a terrain of %g columns and %g rows is none, or has more than 2^28 pixels",
                       path, columns, rows);
    out->n[0] = (uint32_t)columns;
    out->n[1] = (uint32_t)rows;
    out->values = malloc((size_t)out->n[0] * out->n[1] * sizeof *out->values);
    return out->values ? BN_OK : bn_fail(ctx, BN_MEMORY, "no memory for the terrain %s", path);
}

void bn_terrain_free(bn_terrain *t)
{
    free(t->values);
    *t = (bn_terrain){ .epsg = 0 };
}

/* Words of a text, one after the other, and the line in which the last one stood. */
typedef struct words {
    char *at;
    size_t line;
    char *word, *end, kept; /* the last word, which is ended in place until the next is asked for */
} words;

static const char *next(words *w)
{
    if (w->end)
        *w->end = w->kept;
    for (; isspace((unsigned char)*w->at); w->at++)
        w->line += *w->at == '\n';
    if (!*w->at)
        return NULL;
    w->word = w->at;
    while (*w->at && !isspace((unsigned char)*w->at))
        w->at++;
    w->end = w->at;
    w->kept = *w->end;
    *w->end = '\0';
    return w->word;
}

enum { NCOLS, NROWS, XLLCORNER, YLLCORNER, XLLCENTER, YLLCENTER, CELLSIZE, DX, DY, NODATA, HEADS };
static const char *const heads[HEADS] = { "ncols",     "nrows",    "xllcorner", "yllcorner", "xllcenter",
                                          "yllcenter", "cellsize", "dx",        "dy",        "nodata_value" };

typedef struct head {
    double value[HEADS];
    bool given[HEADS];
} head;

/* The head: lines of a word and a number, up to the first line that begins with a number. */
static bn_status read_head(bn_context *ctx, const char *path, words *w, head *h)
{
    for (;;) {
        words before = *w;
        const char *name = next(w);
        size_t i = 0;
        if (!name || !isalpha((unsigned char)name[0]) || strcasecmp(name, "nan") == 0) {
            if (w->end)
                *w->end = w->kept;
            before.end = NULL;
            *w = before;
            return BN_OK;
        }
        while (i < HEADS && strcasecmp(name, heads[i]) != 0)
            i++;
        if (i == HEADS)
            return bn_fail(ctx, BN_CASE,
                           "%s, line %zu: `%.40s` is no word of an ESRI ASCII grid (ncols, nrows, xllcorner, "
                           "yllcorner, cellsize, NODATA_value)",
                           path, w->line, name);
        const char *number = next(w);
        if (!number || !bn_decimal_parse(number, &h->value[i]))
            return bn_fail(ctx, BN_CASE, "%s, line %zu: a number is missing behind %s", path, w->line, heads[i]);
        h->given[i] = true;
    }
}

static bn_status place_grid(bn_context *ctx, const char *path, const head *h, bn_terrain *out)
{
    const int needed[] = { NCOLS, NROWS };
    for (size_t i = 0; i < 2; i++)
        if (!h->given[needed[i]])
            return bn_fail(ctx, BN_CASE, "%s is no ESRI ASCII grid: its head has no %s", path, heads[needed[i]]);
    if (!h->given[CELLSIZE] && !(h->given[DX] && h->given[DY]))
        return bn_fail(ctx, BN_CASE, "%s is no ESRI ASCII grid: its head has no cellsize", path);
    BN_TRY(bn_terrain_create(ctx, path, h->value[NCOLS], h->value[NROWS], out));
    for (int k = 0; k < 2; k++) {
        const int corner = k == 0 ? XLLCORNER : YLLCORNER, centre = k == 0 ? XLLCENTER : YLLCENTER;
        out->h[k] = h->given[CELLSIZE] ? h->value[CELLSIZE] : h->value[k == 0 ? DX : DY];
        if (!(out->h[k] > 0) || !isfinite(out->h[k]))
            return bn_fail(ctx, BN_CASE, "%s: a cellsize of %g", path, out->h[k]);
        if (!h->given[corner] && !h->given[centre])
            return bn_fail(ctx, BN_CASE, "%s is no ESRI ASCII grid: its head has neither %s nor %s", path,
                           heads[corner], heads[centre]);
        out->corner[k] = h->given[corner] ? h->value[corner] : h->value[centre] - 0.5 * out->h[k];
    }
    return BN_OK;
}

static bn_status read_values(bn_context *ctx, const char *path, words *w, const head *h, bn_terrain *out)
{
    for (uint32_t j = 0; j < out->n[1]; j++)
        for (uint32_t i = 0; i < out->n[0]; i++) {
            const char *word = next(w);
            double *v =
                &out->values[(size_t)(out->n[1] - 1 - j) * out->n[0] + i]; /* the first row is the northernmost */
            if (!word)
                return bn_fail(ctx, BN_CASE, "%s ends in row %u, column %u; its head promises %u rows of %u heights",
                               path, j + 1, i + 1, out->n[1], out->n[0]);
            if (!bn_decimal_parse(word, v))
                return bn_fail(ctx, BN_CASE, "%s, line %zu (row %u, column %u): `%.40s` is no number", path, w->line,
                               j + 1, i + 1, word);
            if ((h->given[NODATA] && *v == h->value[NODATA]) || !isfinite(*v))
                *v = (double)NAN;
        }
    return next(w) == NULL
               ? BN_OK
               : bn_fail(ctx, BN_CASE, "%s, line %zu: more heights than the %u rows of %u that its head promises", path,
                         w->line, out->n[1], out->n[0]);
}

static bn_status read_esri(bn_context *ctx, const char *path, bn_terrain *out)
{
    char *text = NULL;
    size_t bytes;
    head h = { .given = { false } };
    bn_status st = BN_OK;
    BN_TRY(bn_file_read(ctx, path, TEXT_BYTES, &text, &bytes));
    words w = { text, 1, NULL, NULL, 0 };
    BN_GO(read_head(ctx, path, &w, &h));
    BN_GO(place_grid(ctx, path, &h, out));
    BN_GO(read_values(ctx, path, &w, &h, out));
out:
    free(text);
    return st;
}

bn_status bn_terrain_read(bn_context *ctx, const char *path, bn_terrain *out)
{
    *out = (bn_terrain){ .epsg = 0 };
    const bn_status st = bn_path_ends(path, ".tif") || bn_path_ends(path, ".tiff") ? bn_geotiff_read(ctx, path, out)
                                                                                   : read_esri(ctx, path, out);
    if (st != BN_OK)
        bn_terrain_free(out);
    return st;
}

double bn_terrain_at(const bn_terrain *t, const double x[2])
{
    size_t first[2], second[2];
    double share[2];
    for (int k = 0; k < 2; k++) {
        const double n = t->n[k], r = (x[k] - t->corner[k]) / t->h[k];
        if (!(r >= -1e-6 && r <= n + 1e-6))
            return (double)NAN;
        const double at = fmin(fmax(r - 0.5, 0), n - 1), low = fmin(floor(at), n > 1 ? n - 2 : 0);
        first[k] = (size_t)low;
        second[k] = n > 1 ? first[k] + 1 : first[k];
        share[k] = at - low;
    }
    const double *south = t->values + first[1] * t->n[0], *north = t->values + second[1] * t->n[0];
    const double low = south[first[0]] + share[0] * (south[second[0]] - south[first[0]]);
    const double high = north[first[0]] + share[0] * (north[second[0]] - north[first[0]]);
    return low + share[1] * (high - low);
}

double bn_terrain_pixel(const bn_terrain *t, const double x[2])
{
    size_t at[2];
    for (int k = 0; k < 2; k++) {
        const double r = floor((x[k] - t->corner[k]) / t->h[k]);
        if (!(r >= 0 && r < t->n[k]))
            return (double)NAN;
        at[k] = (size_t)r;
    }
    return t->values[at[1] * t->n[0] + at[0]];
}
