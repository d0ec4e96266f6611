/* contour.c: marching squares. A square's corners at or above the level tell which edges a line crosses; where two
 * lines cross one square (a saddle), the mean of the corners says whether the high or the low corners are connected,
 * the same way every time. Lines are followed from square to square, so that each comes out in one piece. */
#include "plot/contour.h"

#include <math.h>
#include <stdlib.h>

/* Edges and corners of a square, both counted against the clock: edge e joins the corners e and e + 1, and faces edge e
 * + 2. */
enum { BOTTOM, RIGHT, TOP, LEFT };
static const int corner_x[4] = { 0, 1, 1, 0 }, corner_y[4] = { 0, 0, 1, 1 };
static const int edge_dx[4] = { 0, 1, 0, -1 }, edge_dy[4] = { -1, 0, 1, 0 };

typedef struct tracer {
    const double *values;
    int64_t nx, ny;
    double level;
    unsigned char *visited; /* per square, a bit per edge whose line was handed over */
    double (*points)[2];
    size_t count, room;
} tracer;

/* A place on a line: the square, and the edge through which the line comes in. */
typedef struct place {
    int64_t i, j;
    int edge;
} place;

static double corner(const tracer *t, int64_t i, int64_t j, int c)
{
    const int k = c & 3;
    return t->values[(j + corner_y[k]) * t->nx + i + corner_x[k]];
}

static bool usable(const tracer *t, int64_t i, int64_t j)
{
    if (i < 0 || j < 0 || i >= t->nx - 1 || j >= t->ny - 1)
        return false;
    bool finite = true;
    for (int c = 0; c < 4; c++)
        finite = finite && isfinite(corner(t, i, j, c));
    return finite;
}

static bool crossed(const tracer *t, int64_t i, int64_t j, int edge)
{
    return (corner(t, i, j, edge) >= t->level) != (corner(t, i, j, edge + 1) >= t->level);
}

/* Whether the level lies between corners of a square: mostly it does not, and a place that is not finite is never above
 * it by itself. */
static bool between_corners(const tracer *t, int64_t i, int64_t j)
{
    const double *low = t->values + j * t->nx + i, *high = low + t->nx;
    const int above = (low[0] >= t->level) + (low[1] >= t->level) + (high[0] >= t->level) + (high[1] >= t->level);
    return above % 4 != 0;
}

/* The edge through which the line that came in at p leaves the square. */
static int leave_edge(const tracer *t, place p)
{
    int count = 0, other = p.edge;
    for (int e = 0; e < 4; e++) {
        if (!crossed(t, p.i, p.j, e))
            continue;
        count++;
        if (e != p.edge)
            other = e;
    }
    if (count < 4)
        return other;
    double mean = 0;
    for (int c = 0; c < 4; c++)
        mean += 0.25 * corner(t, p.i, p.j, c);
    /* The line turns around the corners that are alone: corner e + 1 between edges e and e + 1. With the centre on the
     * high side the low corners are alone, and the other way round. */
    const bool high = corner(t, p.i, p.j, p.edge + 1) >= t->level;
    const bool alone = high != (mean >= t->level);
    return alone ? (p.edge + 1) & 3 : (p.edge + 3) & 3;
}

/* The place in the next square behind `edge` of p's square. */
static place behind(place p, int edge) { return (place){ p.i + edge_dx[edge], p.j + edge_dy[edge], (edge + 2) & 3 }; }

static bool add_point(tracer *t, place p, int edge)
{
    if (t->count == t->room) {
        const size_t room = 2 * t->room + 256;
        double(*more)[2] = realloc(t->points, room * sizeof *more);
        if (!more)
            return false;
        t->points = more;
        t->room = room;
    }
    /* Always from the lower to the higher place, so that both squares of an edge find the same bits. */
    const int from = edge == BOTTOM || edge == RIGHT ? edge : (edge + 1) & 3;
    const int to = edge == BOTTOM || edge == RIGHT ? edge + 1 : edge;
    const double a = corner(t, p.i, p.j, from), b = corner(t, p.i, p.j, to);
    const double s = (t->level - a) / (b - a);
    t->points[t->count][0] = (double)(p.i + corner_x[from]) + s * (corner_x[to] - corner_x[from]);
    t->points[t->count][1] = (double)(p.j + corner_y[from]) + s * (corner_y[to] - corner_y[from]);
    t->count++;
    return true;
}

/* Goes against the line from p to where it begins: at a border, or at p again when it is closed. */
static place line_begin(const tracer *t, place p)
{
    const place start = { p.i, p.j, leave_edge(t, p) };
    place at = start;
    for (;;) {
        const int out = leave_edge(t, at);
        const place next = behind(at, out);
        if (!usable(t, next.i, next.j) || (next.i == start.i && next.j == start.j && next.edge == start.edge))
            return (place){ at.i, at.j, out };
        at = next;
    }
}

/* Collects the points of the line through p; false when out of memory. */
static bool follow(tracer *t, place p)
{
    place at = line_begin(t, p);
    t->count = 0;
    if (!add_point(t, at, at.edge))
        return false;
    while (usable(t, at.i, at.j)) {
        unsigned char *visited = &t->visited[at.j * (t->nx - 1) + at.i];
        if (*visited & 1u << at.edge)
            break;
        const int out = leave_edge(t, at);
        *visited = (unsigned char)(*visited | 1u << at.edge | 1u << out);
        if (!add_point(t, at, out))
            return false;
        at = behind(at, out);
    }
    return true;
}

bn_status bn_contour_trace(bn_context *ctx, const double *values, const uint32_t n[2], double level,
                           bn_contour_line *line, void *user)
{
    if (n[0] < 2 || n[1] < 2)
        return BN_OK;
    tracer t = { .values = values, .nx = n[0], .ny = n[1], .level = level };
    bool memory = (t.visited = calloc(n[0] - 1, n[1] - 1)) != NULL;
    for (int64_t j = 0; memory && j < t.ny - 1; j++) {
        for (int64_t i = 0; memory && i < t.nx - 1; i++) {
            if (!between_corners(&t, i, j) || !usable(&t, i, j))
                continue;
            for (int e = 0; memory && e < 4; e++) {
                if (!crossed(&t, i, j, e) || t.visited[j * (t.nx - 1) + i] & 1u << e)
                    continue;
                memory = follow(&t, (place){ i, j, e });
                if (memory)
                    line(user, (const double(*)[2])t.points, t.count);
            }
        }
    }
    free(t.points);
    free(t.visited);
    return memory ? BN_OK : bn_fail(ctx, BN_MEMORY, "out of memory for contour lines");
}
