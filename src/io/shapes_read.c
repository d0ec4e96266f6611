/* shapes_read.c: WKT, alone or as a column of a table (shapes.h). GEOS parses the geometries; this file
 * finds them in the text and reports the line of an error. */
#include "io/shapes_parts.h"

#include "io/file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TEXT_BYTES = 1 << 28, COLUMNS = 64, WORD = 40, DEPTH_MAX = 16 };

/* The message of GEOS, without the name of its exception. */
static const char *said(const bn_shapes *s)
{
    const char *colon = strstr(s->last_message, "Exception: ");
    return colon ? colon + strlen("Exception: ") : s->last_message[0] ? s->last_message : "no geometry";
}

/* Rejects the present shape. */
static bn_status wrong(bn_context *ctx, const bn_shapes *s, const shape_part *p, const char *why)
{
    return bn_fail(ctx, BN_CASE, "%s, line %zu, shape %zu%s%s%s: %s", s->path, p->shape.line, p->shape.number,
                   p->name[0] ? " (" : "", p->name, p->name[0] ? ")" : "", why);
}

/* Polygons only, or lines only? 0: neither. */
static int kind_of(const bn_shapes *s, const GEOSGeometry *g)
{
    switch (GEOSGeomTypeId_r(s->geos, g)) {
    case GEOS_POLYGON: return 2;
    case GEOS_LINESTRING:
    case GEOS_LINEARRING: return 1;
    case GEOS_MULTILINESTRING:
    case GEOS_MULTIPOLYGON:
    case GEOS_GEOMETRYCOLLECTION: {
        const int count = GEOSGetNumGeometries_r(s->geos, g);
        const int first = count > 0 ? kind_of(s, GEOSGetGeometryN_r(s->geos, g, 0)) : 0;
        for (int i = 1; i < count; i++)
            if (kind_of(s, GEOSGetGeometryN_r(s->geos, g, i)) != first)
                return 0;
        return first;
    }
    default: return 0;
    }
}

/* A collection is valid if each of its parts is. */
static bn_status check_geometry(bn_context *ctx, bn_shapes *s, const shape_part *p, const GEOSGeometry *g)
{
    const int parts = GEOSGetNumGeometries_r(s->geos, g);
    if (GEOSisEmpty_r(s->geos, g) == 1)
        return wrong(ctx, s, p, "it is empty");
    if (kind_of(s, g) == 0)
        return wrong(ctx, s, p, "polygons are expected, or lines; no points, and no mixture");
    for (int i = 0; i < parts; i++) {
        char *reason = GEOSisValidReason_r(s->geos, GEOSGetGeometryN_r(s->geos, g, i));
        if (!reason || strcmp(reason, "Valid Geometry") != 0) {
            const bn_status st = wrong(ctx, s, p, reason ? reason : said(s));
            GEOSFree_r(s->geos, reason);
            return st;
        }
        GEOSFree_r(s->geos, reason);
    }
    return BN_OK;
}

/* The bounding box of a part, a point in it, and its prepared geometry for fast queries. */
static bool measure(bn_shapes *s, shape_part *p)
{
    double *low = p->shape.low, *high = p->shape.high;
    GEOSGeometry *point = GEOSPointOnSurface_r(s->geos, p->geometry);
    const bool fine = point && GEOSGeomGetX_r(s->geos, point, &p->shape.inside[0]) == 1 &&
                      GEOSGeomGetY_r(s->geos, point, &p->shape.inside[1]) == 1 &&
                      GEOSGeom_getExtent_r(s->geos, p->geometry, &low[0], &low[1], &high[0], &high[1]) == 1;
    if (point)
        GEOSGeom_destroy_r(s->geos, point);
    p->prepared = fine ? GEOSPrepare_r(s->geos, p->geometry) : NULL;
    return p->prepared != NULL;
}

/* Appends a part with its name, without a geometry. */
static shape_part *extend(bn_shapes *s, const char *name, size_t line)
{
    if (s->count == s->room) {
        const size_t room = 2 * s->room + 16;
        shape_part *grown = realloc(s->part, room * sizeof *grown);
        if (!grown)
            return NULL;
        s->part = grown;
        s->room = room;
    }
    shape_part *p = &s->part[s->count];
    *p = (shape_part){ .name = strdup(name), .shape = { .line = line, .number = s->count + 1 } };
    if (!p->name)
        return NULL;
    p->shape.name = p->name;
    s->count++;
    return p;
}

/* GEOS calls itself for each bracket, and its queries take the square of the depth. */
static bn_status check_depth(bn_context *ctx, const bn_shapes *s, const shape_part *p, const char *text, size_t column)
{
    size_t line = p->shape.line;
    int depth = 0;
    for (const char *at = text; *at; at++, column++) {
        depth += (*at == '(') - (*at == ')');
        if (depth > DEPTH_MAX)
            return bn_fail(ctx, BN_CASE,
                           "%s, line %zu, column %zu, shape %zu%s%s%s: more than %d brackets in each other; take the "
                           "geometries out of their collections",
                           s->path, line, column, p->shape.number, p->name[0] ? " (" : "", p->name,
                           p->name[0] ? ")" : "", (int)DEPTH_MAX);
        if (*at == '\n') {
            line++;
            column = 0;
        }
    }
    return BN_OK;
}

/* Adds the geometry of a text that begins in a line and a column of the file. */
static bn_status add(bn_context *ctx, bn_shapes *s, GEOSWKTReader *reader, const char *text, const char *name,
                     size_t line, size_t column)
{
    bn_status st = BN_OK;
    shape_part *p = extend(s, name, line);
    if (!p)
        return bn_fail(ctx, BN_MEMORY, "no memory for the shapes of %s", s->path);
    BN_TRY(check_depth(ctx, s, p, text, column));
    if (strncasecmp(text, "SRID=", 5) == 0 && strchr(text, ';')) /* as PostGIS writes it */
        text = strchr(text, ';') + 1;
    s->last_message[0] = '\0';
    GEOSGeometry *g = GEOSWKTReader_read_r(s->geos, reader, text);
    if (!g)
        return wrong(ctx, s, p, said(s));
    BN_GO(check_geometry(ctx, s, p, g));
    p->shape.open = kind_of(s, g) == 1;
    GEOSGeometry *snapped = GEOSGeom_setPrecision_r(s->geos, g, s->snap, 0);
    p->geometry = snapped ? GEOSUnaryUnion_r(s->geos, snapped) : NULL;
    if (snapped)
        GEOSGeom_destroy_r(s->geos, snapped);
    if (!p->geometry) {
        st = wrong(ctx, s, p, said(s));
        goto out;
    }
    if (GEOSisEmpty_r(s->geos, p->geometry) == 1) {
        char why[80];
        snprintf(why, sizeof why, "it is smaller than the %g m to which plans are read", s->snap);
        st = wrong(ctx, s, p, why);
        goto out;
    }
    if (!measure(s, p))
        st = wrong(ctx, s, p, said(s));
out:
    GEOSGeom_destroy_r(s->geos, g);
    return st;
}

/* --- a file of WKT alone --- */

/* The end of the geometry that begins at `text`: behind the bracket that closes its first one, or behind EMPTY. */
static char *end_of(char *text)
{
    int depth = 0;
    for (char *at = text; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (*at == ')' && depth <= 0)
            return at + 1;
        if (depth == 0 && strncasecmp(at, "EMPTY", 5) == 0)
            return at + 5;
    }
    return text + strlen(text);
}

static bn_status read_wkt(bn_context *ctx, bn_shapes *s, GEOSWKTReader *reader, char *text)
{
    size_t line = 1;
    bool begins = true; /* nothing but blanks before in this line */
    const char *row = text;
    for (char *at = text; *at;) {
        if (*at == '#' && begins) {
            at += strcspn(at, "\n");
        } else if (isspace((unsigned char)*at)) {
            begins = begins || *at == '\n';
            line += *at == '\n';
            row = *at++ == '\n' ? at : row;
        } else {
            char *end = end_of(at), kept = *end;
            *end = '\0';
            BN_TRY(add(ctx, s, reader, at, "", line, (size_t)(at - row) + 1));
            *end = kept;
            for (; at < end; at++)
                if (*at == '\n') {
                    line++;
                    row = at + 1;
                }
            begins = false;
        }
    }
    return BN_OK;
}

/* --- a table --- */

/* Takes the next place of a row and ends it: *at moves behind it; quotes are taken off. False: the row has ended. */
typedef struct table {
    char *at, separator;
    size_t line;
    bool row_ended;
} table;

static char *next_place(table *t)
{
    if (t->row_ended)
        return NULL;
    while (*t->at == ' ')
        t->at++;
    char *place = t->at, *to = place;
    if (*t->at == '"') {
        for (t->at++; *t->at && !(*t->at == '"' && t->at[1] != '"'); t->at++) {
            t->at += *t->at == '"'; /* two for one */
            t->line += *t->at == '\n';
            *to++ = *t->at;
        }
        t->at += *t->at == '"';
        t->at += strcspn(t->at, (const char[]){ t->separator, '\n', 0 });
    } else {
        t->at += strcspn(t->at, (const char[]){ t->separator, '\n', 0 });
        to = t->at;
    }
    t->row_ended = *t->at != t->separator;
    if (*t->at == '\n')
        t->line++;
    t->at += *t->at != '\0';
    *to = '\0';
    for (; to > place && isspace((unsigned char)to[-1]); to--)
        to[-1] = '\0';
    return place;
}

/* Begins the next row that is not blank; false: there is none. */
static bool next_row(table *t)
{
    for (; isspace((unsigned char)*t->at); t->at++)
        t->line += *t->at == '\n';
    t->row_ended = false;
    return *t->at != '\0';
}

static bn_status read_table(bn_context *ctx, bn_shapes *s, GEOSWKTReader *reader, char *text)
{
    const char *head_end = text + strcspn(text, "\n");
    const char *semicolon = memchr(text, ';', (size_t)(head_end - text));
    table t = { text, semicolon ? ';' : ',', 1, false };
    int wkt = -1, meaning = -1, columns = 0;
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) /* a mark of byte order */
        t.at += 3;
    if (next_row(&t))
        for (char *head; (head = next_place(&t)) != NULL; columns++) {
            if (strcasecmp(head, "wkt") == 0)
                wkt = columns;
            if (strcasecmp(head, "meaning") == 0)
                meaning = columns;
        }
    if (wkt < 0 || meaning < 0)
        return bn_fail(ctx, BN_CASE,
                       "%s, line 1: no column `%s`; the first line names the columns, `meaning` and `wkt` among them",
                       s->path, wkt < 0 ? "wkt" : "meaning");
    while (next_row(&t)) {
        const char *row = t.at, *geometry = NULL, *name = NULL;
        const size_t line = t.line;
        int column = 0;
        for (char *place; (place = next_place(&t)) != NULL; column++) {
            if (column == wkt)
                geometry = place;
            if (column == meaning)
                name = place;
        }
        if (!geometry || !name || !name[0])
            return bn_fail(ctx, BN_CASE, "%s, line %zu: %s", s->path, line,
                           geometry && name
                               ? "the column `meaning` is empty"
                               : "fewer places than columns; a geometry with commas needs quotes around it");
        BN_TRY(add(ctx, s, reader, geometry, name, line, (size_t)(geometry - row) + 1));
    }
    return BN_OK;
}

bn_status bn_shapes_read(bn_context *ctx, const char *path, const char *wkt, double snap, bn_shapes **out)
{
    const size_t length = strlen(path);
    char *text = NULL;
    size_t bytes = 0;
    GEOSWKTReader *reader = NULL;
    bn_status st = BN_OK;
    BN_TRY(bn_shapes_begin(ctx, path, snap, out));
    bn_shapes *s = *out;
    if (!wkt)
        BN_GO(bn_file_read(ctx, path, TEXT_BYTES, &text, &bytes));
    else if (!(text = strdup(wkt)))
        st = bn_fail(ctx, BN_MEMORY, "no memory for the shapes of %s", path);
    else
        bytes = strlen(text);
    if (st != BN_OK)
        goto out;
    if (memchr(text, '\0', bytes))
        BN_GO(bn_fail(ctx, BN_CASE, "%s is no text", path));
    if (!(reader = GEOSWKTReader_create_r(s->geos)))
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for the shapes of %s", path));
    BN_GO(!wkt && length > 4 && strcasecmp(path + length - 4, ".csv") == 0 ? read_table(ctx, s, reader, text)
                                                                           : read_wkt(ctx, s, reader, text));
    if (s->count == 0)
        st = bn_fail(ctx, BN_CASE, "%s has no shape in it", path);
out:
    if (reader)
        GEOSWKTReader_destroy_r(s->geos, reader);
    free(text);
    if (st != BN_OK)
        bn_shapes_destroy(out);
    return st;
}
