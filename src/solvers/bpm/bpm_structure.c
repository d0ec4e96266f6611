/* bpm_structure.c: guides on a background, given as a list of tables; later ones lie over earlier ones. */
#include "bpm.h"

#include <math.h>

static void check_structure(const bn_case *c, const bpm *s, size_t i)
{
    const bpm_structure *g = &s->profile.structure[i];
    if (g->to <= g->from)
        bn_case_reject_item(c, "structure.to", i, NULL, "ends at z = %g m, before it begins at %g m", g->to, g->from);
    if (g->from >= s->c.length)
        bn_case_reject_item(c, "structure.from", i, NULL, "begins behind the end of the grid, march.length = %g m",
                            s->c.length);
}

bn_status bpm_read_structures(const bn_case *c, bpm *s)
{
    s->profile.structures = bn_case_items(c, "structure");
    if (s->profile.structures > BPM_STRUCTURES)
        return bn_case_reject(c, "structure.kind", NULL, "there may be at most %d structures", (int)BPM_STRUCTURES);
    for (size_t i = 0; i < s->profile.structures; i++) {
        bpm_structure *g = &s->profile.structure[i];
        const double index = bn_case_item_real(c, "structure.index", i);
        const double middle = bn_case_item_real(c, "structure.centre", i);
        const double end = bn_case_item_real(c, "structure.to", i);
        *g = (bpm_structure){
            .shape = (bpm_shape)bn_case_item_choice(c, "structure.kind", i),
            .index = CMPLX(index, -bn_case_item_real(c, "structure.absorption", i)),
            .from = bn_case_item_real(c, "structure.from", i),
            .to = end > 0 ? end : s->c.length,
            .centre = middle >= 0 ? middle : 0.5 * s->c.width,
            .width = bn_case_item_real(c, "structure.width", i),
            .separation = bn_case_item_real(c, "structure.separation", i),
            .centre_x = bn_case_item_real(c, "structure.centre_x", i),
            .width_x = bn_case_item_real(c, "structure.width_x", i),
        };
        if (g->centre_x < 0)
            g->centre_x = 0.5 * s->axis[0].width;
        g->centre_end = g->shape == BPM_S_BEND ? bn_case_item_real(c, "structure.centre_end", i) : g->centre;
        g->width_end = g->shape == BPM_TAPER ? bn_case_item_real(c, "structure.width_end", i) : g->width;
        g->separation_end = g->shape == BPM_Y_JUNCTION ? bn_case_item_real(c, "structure.separation_end", i)
                                                       : g->separation;
        s->c.lossy = s->c.lossy || cimag(g->index) != 0;
        check_structure(c, s, i);
    }
    return BN_OK;
}

bn_status bpm_read_picture(const bn_case *c, bn_plan *p, bpm *s)
{
    const size_t colours = bn_case_items(c, "colour");
    const bn_input *picture;
    void *memory;
    if (!bn_case_text(c, "material.picture")[0])
        return colours == 0
                   ? BN_OK
                   : bn_case_reject(c, "colour.rgb", NULL, "there is no material.picture that has this colour");
    if (colours > BPM_COLOURS)
        return bn_case_reject(c, "colour.rgb", NULL, "there may be at most %d colours", (int)BPM_COLOURS);
    for (size_t k = 0; k < colours; k++) {
        s->profile.colour[k] = CMPLX(bn_case_item_real(c, "colour.index", k),
                                     -bn_case_item_real(c, "colour.absorption", k));
        s->c.lossy = s->c.lossy || cimag(s->profile.colour[k]) != 0;
    }
    BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_RGB, .key = "material.picture" }, &picture));
    const unsigned char *rgb = picture->pixels;
    s->profile.picture_width = picture->n[0];
    s->profile.picture_height = picture->n[1];
    const size_t pixels = (size_t)s->profile.picture_width * s->profile.picture_height;
    BN_TRY(bn_plan_allocate(p, pixels, &memory));
    uint8_t *numbers = memory;
    for (size_t at = 0; at < pixels; at++) {
        const unsigned colour = (unsigned)rgb[3 * at] << 16 | (unsigned)rgb[3 * at + 1] << 8 | rgb[3 * at + 2];
        size_t k = 0;
        while (k < colours && bn_case_item_int(c, "colour.rgb", k) != colour)
            k++;
        if (k == colours)
            return bn_case_reject(c, "material.picture", "add a [[colour]] with this rgb",
                                  "the colour 0x%06x, in column %zu and row %zu from the top left, has no index",
                                  colour, at % s->profile.picture_width, at / s->profile.picture_width);
        numbers[at] = (uint8_t)k;
    }
    s->profile.picture = numbers;
    return BN_OK;
}

bn_status bpm_read_map(const bn_case *c, bn_plan *p, bpm *s)
{
    static const char key[] = "material.map";
    const bn_input *in;
    if (!bn_case_text(c, key)[0])
        return BN_OK;
    if (s->profile.picture)
        return bn_case_reject(c, key, "leave one of them out", "there is a material.picture, too");
    BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_VOLUME, .key = key }, &in));
    if (in->n[2] != 1)
        return bn_case_reject(c, key, NULL, "%u x %u x %u numbers are no map of a plane", in->n[0], in->n[1], in->n[2]);
    for (size_t at = 0; at < (size_t)in->n[0] * in->n[1]; at++)
        if (!(in->values[at] >= 0.1 && in->values[at] <= 10))
            return bn_case_reject(c, key, "from 0.1 to 10", "%g, in column %zu and row %zu from below, is no index",
                                  in->values[at], at % in->n[0], at / in->n[0]);
    s->profile.picture_width = in->n[0];
    s->profile.picture_height = in->n[1];
    s->profile.map = in->values;
    return BN_OK;
}

double bpm_highest_index(const bpm_profile *p)
{
    double most = 0;
    for (size_t g = 0; g < p->structures; g++)
        most = fmax(most, creal(p->structure[g].index));
    for (size_t k = 0; p->picture && k < BPM_COLOURS; k++)
        most = fmax(most, creal(p->colour[k]));
    for (size_t at = 0; p->map && at < (size_t)p->picture_width * p->picture_height; at++)
        most = fmax(most, p->map[at]);
    return most;
}

/* Index of the pixel in row k from below. */
static double _Complex pixel(const bpm_profile *p, uint32_t k, uint32_t column)
{
    return p->map ? p->map[(size_t)k * p->picture_width + column]
                  : p->colour[p->picture[(size_t)(p->picture_height - 1 - k) * p->picture_width + column]];
}

/* The pixels that [low, high] along y has to do with: from the first up to before the last. */
typedef struct pixels {
    double size; /* [m] */
    uint32_t first, last;
} pixels;

static pixels pixels_between(const bpm *s, double low, double high)
{
    const double size = s->c.width / s->profile.picture_height;
    return (pixels){ size, (uint32_t)fmax(floor(low / size), 0),
                     (uint32_t)fmin(ceil(high / size), s->profile.picture_height) };
}

/* How much of pixel k lies between them [m]; at most rounding is negative. */
static double part_of(const pixels *p, uint32_t k, double low, double high)
{
    return fmin(high, (k + 1) * p->size) - fmax(low, k * p->size);
}

/* The mean of the squared index (its inverse) over the pixels of [low, high] along y in one column of the picture. */
static double _Complex column_mean(const bpm *s, uint32_t column, double low, double high, bool inverse)
{
    const pixels in = pixels_between(s, low, high);
    double _Complex sum = 0;
    double length = 0;
    for (uint32_t k = in.first; k < in.last; k++) {
        const double part = part_of(&in, k, low, high);
        const double _Complex n = pixel(&s->profile, k, column);
        if (part > 0) {
            sum += part * (inverse ? 1 / (n * n) : n * n);
            length += part;
        }
    }
    return sum / length;
}

/* The column of the picture at place `at` of `length`. */
static uint32_t column_at(const bpm *s, double at, double length)
{
    const double column = floor(at / length * s->profile.picture_width);
    return column > 0 ? (uint32_t)fmin(column, s->profile.picture_width - 1.0) : 0;
}

static bool changes(const bpm_structure *g)
{
    return g->centre != g->centre_end || g->width != g->width_end || g->separation != g->separation_end;
}

/* The one or two intervals of y that the structure fills at height z; bends follow half a cosine, tapers a line. */
static size_t intervals(const bpm_structure *g, double z, double low[2], double high[2])
{
    if (z < g->from || z >= g->to)
        return 0;
    const double t = (z - g->from) / (g->to - g->from), bend = 0.5 - 0.5 * cos(BPM_PI * t);
    const double centre = g->centre + (g->centre_end - g->centre) * bend;
    const double half = 0.5 * (g->width + (g->width_end - g->width) * t);
    const double apart = 0.5 * (g->separation + (g->separation_end - g->separation) * bend);
    if (g->shape < BPM_Y_JUNCTION) {
        low[0] = centre - half;
        high[0] = centre + half;
        return 1;
    }
    for (int arm = 0; arm < 2; arm++) {
        low[arm] = centre + (arm ? apart : -apart) - half;
        high[arm] = centre + (arm ? apart : -apart) + half;
    }
    if (low[1] < high[0]) { /* they overlap: one piece */
        high[0] = high[1];
        return 1;
    }
    return 2;
}

/* The lines whose cells touch [low, high], the first of n at h, and one more on both sides. */
static void mark(double low, double high, double h, uint32_t n, bool *line)
{
    const double first = fmax(ceil(low / h - 2), 0), end = fmin(floor(high / h) + 1, n);
    for (double at = first; at < end; at++)
        line[(size_t)at] = true;
}

/* Marks the lines of direction d on which the index may not be the same at both heights: a border that moves changes it
 * between its places, a structure that begins, ends or splits wherever it is. */
static void mark_changes(const bpm *s, int d, double z, double other, bool *line)
{
    const bpm_axis *a = &s->axis[d ? 0 : 1]; /* across the lines */
    for (size_t k = 0; k < s->profile.structures; k++) {
        const bpm_structure *g = &s->profile.structure[k];
        const bool round = g->shape == BPM_FIBRE || g->shape == BPM_GRADED_FIBRE;
        const double width = round ? g->width : g->width_x > 0 ? g->width_x : HUGE_VAL;
        double low[2][2], high[2][2];
        const size_t count[2] = { intervals(g, z, low[0], high[0]), intervals(g, other, low[1], high[1]) };
        const bool lasts = count[0] == count[1];
        bool moves = !lasts;
        for (size_t i = 0; lasts && i < count[0]; i++) {
            moves = moves || low[0][i] != low[1][i] || high[0][i] != high[1][i];
            if (d == 0 && low[0][i] != low[1][i])
                mark(fmin(low[0][i], low[1][i]), fmax(low[0][i], low[1][i]), a->h, a->n, line);
            if (d == 0 && high[0][i] != high[1][i])
                mark(fmin(high[0][i], high[1][i]), fmax(high[0][i], high[1][i]), a->h, a->n, line);
        }
        for (int at = 0; d == 0 && !lasts && at < 2; at++)
            for (size_t i = 0; i < count[at]; i++)
                mark(low[at][i], high[at][i], a->h, a->n, line);
        if (d == 1 && moves)
            mark(g->centre_x - 0.5 * width, g->centre_x + 0.5 * width, a->h, a->n, line);
    }
}

void bpm_mark_stale(const bpm *s, int d, const bpm_made_for *made, bool same, double z)
{
    bool *stale = s->axis[d].stale;
    for (uint32_t line = 0; line < s->axis[d].lines; line++)
        stale[line] = !same;
    if (same)
        mark_changes(s, d, made->z, z, stale);
}

bn_status bpm_make_stale(const bpm_axis *a, const bn_row_band *rows, size_t count, bn_row_band_function *make,
                         void *user)
{
    enum { NODES_BETWEEN = 4096 }; /* are made again sooner than another piece is brought to the device */
    for (uint32_t first = 0, end; first < a->lines; first = end) {
        end = first + 1;
        if (!a->stale[first])
            continue;
        for (uint32_t next = end; next < a->lines && (next - end) * (size_t)a->n <= NODES_BETWEEN; next++)
            end = a->stale[next] ? next + 1 : end;
        BN_TRY(bn_field_row_range(rows, count, first, end, make, user));
    }
    return BN_OK;
}

/* What lies over the background at one z: an interval of y, in space a rectangle or a round guide. */
typedef struct overlay {
    double low, high, left, right;
    double _Complex value;      /* n^2, or its inverse */
    const bpm_structure *round; /* NULL: straight borders */
} overlay;

typedef struct overlays {
    const bpm *s;
    double z;
    bool inverse;
    size_t pieces; /* later ones over earlier ones */
    overlay piece[2 * BPM_STRUCTURES];
} overlays;

typedef struct rectangle {
    double low, high, left, right; /* along y and along x; left and right of a plane are 0 and 1 */
} rectangle;

static void lay_out(const bpm *s, double _Complex more, double z, bool inverse, overlays *l)
{
    l->s = s;
    l->z = z;
    l->inverse = inverse;
    l->pieces = 0;
    for (size_t k = 0; k < s->profile.structures; k++) {
        const bpm_structure *g = &s->profile.structure[k];
        const bool space = s->c.axes == 2, round = space && (g->shape == BPM_FIBRE || g->shape == BPM_GRADED_FIBRE);
        const double half_x = space && g->width_x > 0 ? 0.5 * g->width_x : HUGE_VAL;
        const double _Complex n = g->index + more;
        double low[2], high[2];
        const size_t count = intervals(g, z, low, high);
        for (size_t i = 0; i < count; i++)
            l->piece[l->pieces++] = (overlay){
                .low = low[i],
                .high = high[i],
                .left = g->centre_x - half_x,
                .right = g->centre_x + half_x,
                .value = inverse ? 1 / (n * n) : n * n,
                .round = round ? g : NULL,
            };
    }
}

static double area(const rectangle *c) { return (c->high - c->low) * (c->right - c->left); }

/* The mean over the picture, or what there is without one. */
static double _Complex mean_background(const overlays *l, const rectangle *c)
{
    const bpm *s = l->s;
    const double background = s->c.background * s->c.background, low = fmax(0, c->low),
                 high = fmin(s->c.width, c->high);
    if (s->profile.picture_width == 0)
        return l->inverse ? 1 / background : background;
    if (s->c.axes == 1)
        return column_mean(s, column_at(s, l->z, s->c.length), low, high, l->inverse);
    const double width = s->axis[0].width, pixel_width = width / s->profile.picture_width;
    const uint32_t last = column_at(s, c->right, width);
    double _Complex sum = 0;
    double covered = 0;
    for (uint32_t k = column_at(s, c->left, width); k <= last; k++) {
        const double part = fmin(c->right, (k + 1) * pixel_width) - fmax(c->left, k * pixel_width);
        if (part > 0) {
            sum += part * column_mean(s, k, low, high, l->inverse);
            covered += part;
        }
    }
    return sum / covered;
}

/* The four rectangles of a cell that a piece with straight borders leaves; false: all of it. */
static bool leaves(const overlays *l, const overlay *p, const rectangle *c, rectangle rest[4])
{
    const double same_y = 1e-9 * l->s->c.h, same_x = 1e-9 * l->s->axis[0].h; /* borders that only rounding separates */
    const rectangle in = { p->low > c->low + same_y ? p->low : c->low, p->high < c->high - same_y ? p->high : c->high,
                           p->left > c->left + same_x ? p->left : c->left,
                           p->right < c->right - same_x ? p->right : c->right };
    rest[0] = (rectangle){ c->low, in.low, c->left, c->right };
    rest[1] = (rectangle){ in.high, c->high, c->left, c->right };
    rest[2] = (rectangle){ in.low, in.high, c->left, in.left };
    rest[3] = (rectangle){ in.low, in.high, in.right, c->right };
    return in.high - in.low > same_y && in.right - in.left > same_x;
}

/* The mean over a cell of the first `count` pieces and what is under them. A piece with straight borders leaves up to
 * four rectangles of the cell to those below it: exact, however many borders meet in the cell. Over one with a round
 * border the mean is that over a fine grid. */
static double _Complex mean(const overlays *l, size_t count, const rectangle *c)
{
    enum { FINE = 16 };
    while (count-- > 0) {
        const overlay *p = &l->piece[count];
        if (p->round) {
            const double radius = 0.5 * p->round->width, hx = c->right - c->left, hy = c->high - c->low;
            const double x = 0.5 * (c->left + c->right) - p->round->centre_x,
                         y = 0.5 * (c->low + c->high) - p->round->centre;
            const double away = hypot(x, y), half = 0.5 * hypot(hx, hy);
            const bool step = p->round->shape == BPM_FIBRE;
            if (away >= radius + half || fabs(x) >= radius + 0.5 * hx || fabs(y) >= radius + 0.5 * hy)
                continue; /* not one of the points below lies in it */
            if (step && away <= radius - half)
                return p->value;
            const double _Complex there = mean(l, count, c);
            const double background = l->s->c.background * l->s->c.background;
            double _Complex sum = 0;
            for (int b = 0; b < FINE; b++)
                for (int a = 0; a < FINE; a++) {
                    const double u = x + ((a + 0.5) / FINE - 0.5) * hx, v = y + ((b + 0.5) / FINE - 0.5) * hy;
                    const double r2 = (u * u + v * v) / (radius * radius);
                    sum += r2 >= 1 ? there : step ? p->value : p->value + r2 * (background - p->value);
                }
            return sum / (FINE * FINE);
        }
        rectangle rest[4];
        if (!leaves(l, p, c, rest))
            continue;
        double _Complex sum = 0;
        for (int k = 0; k < 4; k++)
            if (area(&rest[k]) > 0)
                sum += area(&rest[k]) * (mean(l, count, &rest[k]) - p->value);
        return p->value + sum / area(c);
    }
    return mean_background(l, c);
}

/* Leaves the pieces that have a part of the cells between low and high along y. */
static void keep_those_between(overlays *l, double low, double high)
{
    size_t kept = 0;
    for (size_t k = 0; k < l->pieces; k++)
        if (l->piece[k].low < high && l->piece[k].high > low)
            l->piece[kept++] = l->piece[k];
    l->pieces = kept;
}

void bpm_index_row(const bpm *s, double z, double y, size_t first, size_t count, double _Complex *out)
{
    const double hx = s->axis[0].h, hy = s->axis[1].h, low = y - 0.5 * hy, high = y + 0.5 * hy;
    overlays l;
    lay_out(s, s->beam[0].index, z, false, &l);
    keep_those_between(&l, low, high);
    const bool alike = l.pieces == 0 && s->profile.picture_width == 0;
    for (size_t i = 0; i < count; i++) {
        const double x = (double)(first + i + 1) * hx;
        out[i] = alike && i > 0 ? out[0] : mean(&l, l.pieces, &(rectangle){ low, high, x - 0.5 * hx, x + 0.5 * hx });
    }
}

void bpm_index(const bpm *s, size_t beam, double z, double y0, size_t count, bool inverse, double _Complex *out)
{
    const double h = s->c.h;
    overlays l;
    lay_out(s, s->beam[beam].index, z, inverse, &l);
    for (size_t i = 0; i < count; i++) {
        const double y = y0 + (double)i * h;
        out[i] = mean(&l, l.pieces, &(rectangle){ y - 0.5 * h, y + 0.5 * h, 0, 1 });
        out[i] = inverse ? 1 / out[i] : out[i];
    }
}

/* The transpose of `mean` in a plane: a change of the mean n^2 by `slope` comes from changes of the pixels under the
 * pieces, each by its share of the cell, and d(n^2) = 2 n dn. */
static void spread(const overlays *l, size_t count, const rectangle *c, double slope, double *gradient)
{
    const bpm *s = l->s;
    rectangle rest[4];
    while (count-- > 0) {
        if (!leaves(l, &l->piece[count], c, rest))
            continue;
        for (int k = 0; k < 4; k++)
            if (area(&rest[k]) > 0)
                spread(l, count, &rest[k], slope * area(&rest[k]) / area(c), gradient);
        return;
    }
    const double low = fmax(0, c->low), high = fmin(s->c.width, c->high);
    const uint32_t column = column_at(s, l->z, s->c.length);
    const pixels in = pixels_between(s, low, high);
    for (uint32_t k = in.first; k < in.last; k++) {
        const double part = part_of(&in, k, low, high);
        if (part > 0)
            gradient[(size_t)k * s->profile.picture_width + column] += slope * part / (high - low) * 2 *
                                                                       creal(pixel(&s->profile, k, column));
    }
}

void bpm_index_slopes(const bpm *s, size_t beam, double z, double y0, size_t count, const double *slope,
                      double *gradient)
{
    const double h = s->c.h;
    overlays l;
    lay_out(s, s->beam[beam].index, z, false, &l);
    for (size_t i = 0; i < count; i++) {
        const double y = y0 + (double)i * h;
        spread(&l, l.pieces, &(rectangle){ y - 0.5 * h, y + 0.5 * h, 0, 1 }, slope[i], gradient);
    }
}

size_t bpm_constant_steps(const bpm *s, size_t k)
{
    const double z = ((double)k + 0.5) * s->c.dz; /* profiles are those in the middle of a step */
    size_t end = s->c.steps;
    if (s->profile.picture_width > 0 && s->c.axes == 1) {
        const uint32_t column = column_at(s, z, s->c.length);
        size_t at = k + 1;
        while (at < end && column_at(s, ((double)at + 0.5) * s->c.dz, s->c.length) == column)
            at++;
        end = at;
    }
    for (size_t g = 0; g < s->profile.structures; g++) {
        const bpm_structure *t = &s->profile.structure[g];
        if (z >= t->from && z < t->to && changes(t))
            return 1;
        /* The first step whose middle is at or behind an end of the structure. */
        const double ends[2] = { t->from, t->to };
        for (int e = 0; e < 2; e++)
            if (ends[e] > z) {
                /* Far behind the last step it is no integer; nor is 0 / 0, of steps too short for any. */
                size_t at = (size_t)fmin(fmax(0, floor(ends[e] / s->c.dz - 0.5)), (double)end);
                while (at < end && ((double)at + 0.5) * s->c.dz < ends[e])
                    at++;
                end = at > k && at < end ? at : end;
            }
    }
    return end > k ? end - k : 1;
}

bool bpm_varies(const bpm_profile *p)
{
    bool varies = p->picture_width > 1;
    for (size_t g = 0; g < p->structures; g++)
        varies = varies || changes(&p->structure[g]);
    return varies;
}

bool bpm_guides(const bpm_profile *p, double z)
{
    if (p->picture_width > 0)
        return true;
    for (size_t g = 0; g < p->structures; g++)
        if (z >= p->structure[g].from && z < p->structure[g].to)
            return true;
    return false;
}
