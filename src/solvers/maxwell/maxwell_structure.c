/* maxwell_structure.c: which material fills each cell: half spaces, layers with textured faces, cells of a file, boxes,
 * spheres. A cell has the material at its centre; with sharp borders edges and faces of the grid have the material at
 * their own centre. */
#include "maxwell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The place in each cell whose material is wanted. */
typedef struct sample {
    double in[3]; /* in cells from the cell's lowest corner */
    uint8_t *of;  /* the materials of all cells */
} sample;

/* SplitMix64 (Steele, Lea, Flood 2014): numbers for random faces, the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double uniform(uint64_t *state) { return ((double)(next_random(state) >> 11) + 0.5) * 0x1p-53; }

/* Smooths `height` along one dimension with a periodic Gaussian of the given width [cells]. */
static void smooth(double *height, double *smoothed, size_t n, size_t lines, size_t step, size_t line_step,
                   double width)
{
    const long radius = (long)ceil(4 * width);
    for (size_t line = 0; line < lines; line++) {
        double *first = height + line * line_step;
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (long d = -radius; d <= radius; d++) {
                const long at = (((long)i + d) % (long)n + (long)n) % (long)n;
                sum += exp(-0.5 * (double)(d * d) / (width * width)) * first[(size_t)at * step];
            }
            smoothed[i] = sum;
        }
        for (size_t i = 0; i < n; i++)
            first[i * step] = smoothed[i];
    }
}

/* A random face, periodic, with mean 0, the given root mean square [m] and a Gaussian autocorrelation exp(-r^2 / L^2):
 * white noise smoothed by a Gaussian of width L / 2. */
static void random_face(const maxwell_model *m, double rms, double length, uint64_t seed, double *height, double *line)
{
    const size_t nx = m->n[0], ny = m->n[1], points = nx * ny;
    uint64_t state = seed;
    double mean = 0, squares = 0;
    for (size_t i = 0; i < points; i++) /* Box and Muller (1958) */
        height[i] = sqrt(-2 * log(uniform(&state))) * cos(6.283185307179586 * uniform(&state));
    const double width = 0.5 * length / m->h;
    if (width > 0) {
        smooth(height, line, nx, ny, 1, nx, width);
        smooth(height, line, ny, nx, nx, 1, width);
    }
    for (size_t i = 0; i < points; i++)
        mean += height[i] / (double)points;
    for (size_t i = 0; i < points; i++)
        squares += (height[i] - mean) * (height[i] - mean) / (double)points;
    for (size_t i = 0; i < points; i++)
        height[i] = squares > 0 ? (height[i] - mean) * rms / sqrt(squares) : 0;
}

/* A lamellar grating along x, about its mean: the share `fill` of each period is raised. */
static void grating_face(const maxwell_model *m, double period, double fill, double depth, double *height)
{
    for (size_t i = 0; i < m->n[0]; i++) {
        const double x = ((double)i + 0.5) * m->h, phase = x / period - floor(x / period);
        for (size_t j = 0; j < m->n[1]; j++)
            height[j * m->n[0] + i] = depth * (phase < fill ? 1 - fill : -fill);
    }
}

/* Heights from a picture that covers the grid: `depth` from the lowest value that a pixel may have (black) to the
 * highest (white; of a TIFF from its own lowest to its highest), about the mean, nearest pixel. */
static bn_status picture_face(const bn_case *c, bn_plan *p, const maxwell_model *m, size_t item, double depth,
                              double *height)
{
    const char *name = bn_case_item_text(c, "layer.picture", item), *dot = strrchr(name, '.');
    const bool tiff = dot && (strcmp(dot, ".tif") == 0 || strcmp(dot, ".tiff") == 0);
    const size_t nx = m->n[0], ny = m->n[1];
    const bn_input *in;
    double low = 0, high = 255, mean = 0;
    const bn_input_desc d = { .kind = tiff ? BN_INPUT_VOLUME : BN_INPUT_GREY,
                              .key = "layer.picture",
                              .item = item + 1 };
    BN_TRY(bn_plan_input(p, c, &d, &in));
    const uint32_t width = in->n[0], rows = in->n[1];
    if (tiff) {
        low = high = in->values[0];
        for (size_t i = 0; i < (size_t)width * rows; i++) {
            low = fmin(low, in->values[i]);
            high = fmax(high, in->values[i]);
        }
    }
    for (size_t j = 0; j < ny; j++)
        for (size_t i = 0; i < nx; i++) {
            const size_t x = (size_t)(((double)i + 0.5) / (double)nx * width);
            const size_t y = (size_t)(((double)j + 0.5) / (double)ny * rows);
            /* The first row of a PNG is the uppermost one, of a volume the lowest one. */
            const double value = tiff ? in->values[y * width + x] : in->pixels[(rows - 1 - y) * width + x];
            height[j * nx + i] = high > low ? depth * (value - low) / (high - low) : 0;
            mean += height[j * nx + i] / (double)(nx * ny);
        }
    for (size_t i = 0; i < nx * ny; i++)
        height[i] -= mean;
    return BN_OK;
}

static bn_status face_of(const bn_case *c, bn_plan *p, const maxwell_model *m, size_t item, double *height,
                         double *line)
{
    const double depth = bn_case_item_real(c, "layer.depth", item);
    switch ((maxwell_texture)bn_case_item_choice(c, "layer.texture", item)) {
    case MAXWELL_TEXTURE_FLAT: memset(height, 0, (size_t)m->n[0] * m->n[1] * sizeof *height); break;
    case MAXWELL_TEXTURE_SAME: break; /* as the face above */
    case MAXWELL_TEXTURE_RANDOM: {
        const double length = bn_case_item_real(c, "layer.correlation", item);
        random_face(m, depth, length, (uint64_t)bn_case_int(c, "case.seed") + 1000003 * item, height, line);
        break;
    }
    case MAXWELL_TEXTURE_GRATING: {
        const double period = bn_case_item_real(c, "layer.period", item);
        const double fits = m->n[0] * m->h / (period > 0 ? period : 1);
        if (!(period > 0) || (!m->pml.sides && fabs(fits - round(fits)) > 1e-6 * fits)) {
            (void)bn_case_reject_item(c, "layer.period", item, NULL,
                                      "the grid along x (%g m) must hold a whole number of periods", m->n[0] * m->h);
            break;
        }
        grating_face(m, period, bn_case_item_real(c, "layer.fill", item), depth, height);
        break;
    }
    case MAXWELL_TEXTURE_PICTURE: return picture_face(c, p, m, item, depth, height);
    }
    return BN_OK;
}

/* Fills everything below the face z = face + height. */
static void fill_below(const maxwell_model *m, const sample *q, double face, const double *height, int material)
{
    const size_t nx = m->n[0], ny = m->n[1], nz = m->n[2];
    for (size_t j = 0; j < ny; j++)
        for (size_t i = 0; i < nx; i++) {
            const double z = (face + height[j * nx + i]) / m->h;
            /* The number of places below the face; one exactly on it lies above. */
            const double count = ceil(z - q->in[2] - 1e-9);
            const size_t filled = count <= 0 ? 0 : count >= (double)nz ? nz : (size_t)count;
            for (size_t k = 0; k < filled; k++)
                q->of[(k * ny + j) * nx + i] = (uint8_t)material;
        }
}

/* Number of the material that an item of a list names; -1: it is unknown, and the case is rejected. */
static bn_status material_of(const bn_case *c, bn_plan *p, maxwell_model *m, const char *key, size_t item, int *out)
{
    const char *name = bn_case_item_text(c, key, item);
    BN_TRY(maxwell_find_material(c, p, &m->structure, name, out));
    if (*out < 0) {
        char hint[MAXWELL_HINT];
        BN_TRY(maxwell_unknown_material(p, &m->structure, name, hint));
        (void)bn_case_reject_item(c, key, item, hint, "unknown material %s", name);
    }
    return BN_OK;
}

static bn_status build_layers(const bn_case *c, bn_plan *p, maxwell_model *m, const sample *q)
{
    const size_t nx = m->n[0], ny = m->n[1], layers = bn_case_items(c, "layer");
    double *height, *line;
    double face = bn_case_real(c, "structure.top");
    if (face == 0) /* a quarter wavelength below the source, at a face of cells */
        face = m->h * floor(m->light.source - 0.25 * m->light.wavelength / m->h);
    BN_TRY(bn_plan_allocate(p, nx * ny * sizeof *height, (void **)&height));
    BN_TRY(bn_plan_allocate(p, (nx + ny) * sizeof *line, (void **)&line));
    for (size_t item = 0; item < layers; item++) {
        int material;
        BN_TRY(material_of(c, p, m, "layer.material", item, &material));
        BN_TRY(face_of(c, p, m, item, height, line));
        if (material < 0)
            continue;
        double highest = height[0];
        for (size_t i = 1; i < nx * ny; i++)
            highest = fmax(highest, height[i]);
        if (face + highest <= 0)
            (void)bn_case_reject_item(c, "layer.material", item,
                                      "give the grid more cells along z, or the layers above it less thickness",
                                      "the layer lies below the grid: its upper face is at z = %g m", face);
        fill_below(m, q, face, height, material);
        face -= bn_case_item_real(c, "layer.thickness", item);
    }
    memset(height, 0, nx * ny * sizeof *height);
    if (layers > 0 || bn_case_given(c, "structure.below"))
        fill_below(m, q, face, height, m->structure.below);
    return BN_OK;
}

/* Materials from a file, cell by cell: numbers of the case's [[material]], from 1; 0 is none of them. */
static bn_status build_file(const bn_case *c, bn_plan *p, maxwell_model *m, const sample *q)
{
    const size_t cells = (size_t)m->n[0] * m->n[1] * m->n[2], materials = bn_case_items(c, "material");
    const bn_input *file;
    int number[MAXWELL_MATERIALS];
    if (!bn_case_text(c, "structure.file")[0])
        return BN_OK;
    for (size_t i = 0; i < materials && i < MAXWELL_MATERIALS; i++)
        BN_TRY(material_of(c, p, m, "material.name", i, &number[i]));
    BN_TRY(bn_plan_input(p, c,
                         &(bn_input_desc){ .kind = BN_INPUT_VOLUME,
                                           .key = "structure.file",
                                           .array = bn_case_text(c, "structure.array") },
                         &file));
    if (memcmp(file->n, m->n, sizeof m->n) != 0)
        return bn_case_reject(c, "structure.file", NULL, "%s has %u x %u x %u cells, the grid %u x %u x %u",
                              bn_case_text(c, "structure.file"), file->n[0], file->n[1], file->n[2], m->n[0], m->n[1],
                              m->n[2]);
    for (size_t i = 0; i < cells; i++) {
        const double value = file->values[i];
        if (!(value >= 0 && value <= (double)materials && value < MAXWELL_MATERIALS && value == floor(value)))
            return bn_case_reject(c, "structure.file", NULL, "%g of cell %zu, %zu, %zu is no number of a [[material]]",
                                  value, i % m->n[0], i / m->n[0] % m->n[1], i / m->n[0] / m->n[1]);
        if (value > 0)
            q->of[i] = (uint8_t)number[(size_t)value - 1];
    }
    return BN_OK;
}

static bn_status build_boxes(const bn_case *c, bn_plan *p, maxwell_model *m, const sample *q)
{
    for (size_t item = 0; item < bn_case_items(c, "box"); item++) {
        int material;
        uint32_t from[3], to[3];
        BN_TRY(material_of(c, p, m, "box.material", item, &material));
        if (material < 0)
            continue;
        for (size_t d = 0; d < 3; d++) {
            const double a = ceil(bn_case_item_real_at(c, "box.from", item, d) / m->h - q->in[d] - 1e-9);
            const double b = ceil(bn_case_item_real_at(c, "box.to", item, d) / m->h - q->in[d] - 1e-9);
            from[d] = a <= 0 ? 0 : a >= m->n[d] ? m->n[d] : (uint32_t)a;
            to[d] = b <= 0 ? 0 : b >= m->n[d] ? m->n[d] : (uint32_t)b;
            if (from[d] >= to[d])
                (void)bn_case_reject_item(c, "box.to", item, NULL, "the box holds no cell of the grid");
        }
        for (uint32_t k = from[2]; k < to[2]; k++)
            for (uint32_t j = from[1]; j < to[1]; j++)
                for (uint32_t i = from[0]; i < to[0]; i++)
                    q->of[((size_t)k * m->n[1] + j) * m->n[0] + i] = (uint8_t)material;
    }
    return BN_OK;
}

static bn_status build_spheres(const bn_case *c, bn_plan *p, maxwell_model *m, const sample *q)
{
    const size_t spheres = bn_case_items(c, "sphere");
    for (size_t item = 0; item < spheres; item++) {
        int material;
        double at[3];
        const double radius = bn_case_item_real(c, "sphere.radius", item) / m->h;
        BN_TRY(material_of(c, p, m, "sphere.material", item, &material));
        if (material < 0)
            continue;
        for (size_t d = 0; d < 3; d++)
            at[d] = bn_case_item_real_at(c, "sphere.centre", item, d) / m->h;
        for (uint32_t k = 0; k < m->n[2]; k++)
            for (uint32_t j = 0; j < m->n[1]; j++)
                for (uint32_t i = 0; i < m->n[0]; i++) {
                    const double x = i + q->in[0] - at[0], y = j + q->in[1] - at[1], z = k + q->in[2] - at[2];
                    if (x * x + y * y + z * z < radius * radius)
                        q->of[((size_t)k * m->n[1] + j) * m->n[0] + i] = (uint8_t)material;
                }
        m->structure.sphere_radius = spheres == 1 ? radius * m->h : 0;
    }
    return BN_OK;
}

/* Each absorbing layer must lie in one dielectric, and so must all planes from the source upwards; around what scatters
 * the light of a volume source, so must a cell for the box through which the flux is taken. */
static void check_layers(const bn_case *c, const maxwell_model *m)
{
    const size_t nx = m->n[0], ny = m->n[1], nz = m->n[2], plane = nx * ny;
    const size_t d = (size_t)m->pml.cells + m->light.volume;
    for (size_t k = 0; k < nz; k++) {
        const bool low = m->pml.bottom && k < d, high = k + d >= nz;
        const bool lit = !m->light.volume && !m->light.current && k >= m->light.source;
        if (!low && !high && !lit)
            continue;
        const int wanted = low ? m->structure.cell[0] : m->structure.above;
        for (size_t i = 0; i < plane; i++)
            if (m->structure.cell[k * plane + i] != wanted) {
                (void)bn_case_reject(c, "structure.top",
                                     "give the grid more cells along z, or the structure a lower place",
                                     "the structure (%s at cell %zu, %zu, %zu) reaches into the %s",
                                     m->structure.material[m->structure.cell[k * plane + i]].name, i % nx, i / nx, k,
                                     low    ? "absorbing layer at the bottom, or the cell before it"
                                     : high ? "absorbing layer at the top, or the cell before it"
                                            : "light's source plane or above it");
                return;
            }
    }
    for (size_t k = 0; m->pml.sides && k < nz; k++)
        for (size_t i = 0; i < plane; i++) {
            const size_t x = i % nx, y = i / nx;
            if ((x < d || x + d >= nx || y < d || y + d >= ny) &&
                m->structure.cell[k * plane + i] != m->structure.above) {
                (void)bn_case_reject(c, "boundary.sides", "give the grid more cells along x and y",
                                     "the structure (%s at cell %zu, %zu, %zu) reaches into the absorbing layer at the "
                                     "sides, or the cell "
                                     "before it",
                                     m->structure.material[m->structure.cell[k * plane + i]].name, x, y, k);
                return;
            }
        }
}

static bn_status fill(const bn_case *c, bn_plan *p, maxwell_model *m, const sample *q)
{
    memset(q->of, m->structure.above, (size_t)m->n[0] * m->n[1] * m->n[2]);
    BN_TRY(build_layers(c, p, m, q));
    BN_TRY(build_file(c, p, m, q));
    BN_TRY(build_boxes(c, p, m, q));
    return build_spheres(c, p, m, q);
}

static void look_for_magnetic(maxwell_structure *s)
{
    for (const maxwell_material *m = s->material; m < s->material + s->materials; m++)
        s->magnetic = s->magnetic || (m->used && (m->mu.re != 1 || m->mu.im != 0));
}

/* Where cells are only counted, every material that the case names counts as used. */
static bn_status name_materials(const bn_case *c, bn_plan *p, maxwell_model *m)
{
    static const char *const lists[3][2] = { { "layer", "layer.material" },
                                             { "box", "box.material" },
                                             { "sphere", "sphere.material" } };
    m->structure.material[m->structure.above].used = true;
    for (int list = 0; list < 3; list++)
        for (size_t item = 0; item < bn_case_items(c, lists[list][0]); item++) {
            int material;
            BN_TRY(material_of(c, p, m, lists[list][1], item, &material));
            if (material >= 0)
                m->structure.material[material].used = true;
        }
    look_for_magnetic(&m->structure);
    return BN_OK;
}

/* The material at the centres of all edges, which are half a cell `along` their axis and at 0 across it, or, with 0
 * along it, of all faces. */
static bn_status fill_sharp(const bn_case *c, bn_plan *p, maxwell_model *m, double along, uint8_t **out)
{
    const size_t cells = maxwell_cells(m);
    BN_TRY(bn_plan_allocate(p, 3 * cells, (void **)out));
    for (size_t d = 0; d < 3; d++) {
        sample q = { { 0.5 - along, 0.5 - along, 0.5 - along }, *out + d * cells };
        q.in[d] = along;
        BN_TRY(fill(c, p, m, &q));
    }
    return BN_OK;
}

bn_status maxwell_build_structure(const bn_case *c, bn_plan *p, maxwell_model *m)
{
    static const char *const keys[2] = { "structure.above", "structure.below" };
    const size_t cells = (size_t)m->n[0] * m->n[1] * m->n[2];
    for (int i = 0; i < 2; i++) {
        int *half = i ? &m->structure.below : &m->structure.above;
        BN_TRY(maxwell_find_material(c, p, &m->structure, bn_case_text(c, keys[i]), half));
        if (*half < 0) {
            char hint[MAXWELL_HINT];
            BN_TRY(maxwell_unknown_material(p, &m->structure, bn_case_text(c, keys[i]), hint));
            (void)bn_case_reject(c, keys[i], hint, "unknown material %s", bn_case_text(c, keys[i]));
            *half = 0;
        }
    }
    if (bn_plan_only_counts(p, (double)cells))
        return name_materials(c, p, m);
    BN_TRY(bn_plan_allocate(p, cells, (void **)&m->structure.cell));
    BN_TRY(fill(c, p, m, &(sample){ { 0.5, 0.5, 0.5 }, m->structure.cell }));
    for (size_t i = 0; i < cells; i++)
        m->structure.material[m->structure.cell[i]].used = true;
    look_for_magnetic(&m->structure);
    if (!m->structure.average && !bn_case_diagnostics(c)[0]) {
        BN_TRY(fill_sharp(c, p, m, 0.5, &m->structure.edge));
        if (m->structure.magnetic)
            BN_TRY(fill_sharp(c, p, m, 0, &m->structure.face));
    }
    if (!bn_case_diagnostics(c)[0])
        check_layers(c, m);
    return BN_OK;
}
