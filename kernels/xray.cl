/* xray.cl: Monte Carlo transport of photons with phase through an electron density to a distant detector; docs/xray.md
 * derives the equations, src/solvers/xray/xray_reference.c computes the same bits in plain C.
 *
 * Optical depth to the next tentative collision, M the majorant of a block of cells, w a random 32-bit word:
 *     tau = -ln((w + 1/2) / 2^32),   distance tau / M                                                            (1)
 * Delta tracking (Woodcock et al. 1965): it is a scattering with probability mu(cell) / M. In blocks of like cells
 * (THINNED = 0) every collision is one; with blocks of one cell this is the exact walk from cell to cell.        (2)
 * Scattering angle: 1 - cos theta = r (1 - cos theta_max), or from an array of the inverse distribution.         (3)
 * New direction: d' = d cos theta + sin theta (b cos phi + (d x b) sin phi), b across d; for polarised light b is its
 * electric field, and phi is accepted with probability 1 - sin^2 theta cos^2 phi.                                (4)
 * Phase at the cell in direction u, path lengths s_i, last place (X, Y, Z), start p_0:
 *     phi = k (sum_i s_i (1 - u_(i-1),x) + (1 - u_x) X - u_y Y - u_z Z + u_0 . p_0)                              (5)
 * Picture: |sum of weight exp(i phi) over the photons of a cell|^2.                                              (6)
 * Expected-value estimator: each scattering adds p(u) dOmega exp(i phi) to cells spread over the detector.       (7)
 *
 * One work-item follows a photon from the entrance to the detector in registers. Random numbers are Philox words of
 * (photon number, event): a photon's history depends on its number alone. The grid is the detector: the work-items of a
 * cell trace the photons whose number is its index plus a multiple of the number of cells. Sums are of integers.
 *
 * Positions are in cells of the density's bounding box, x along the entrance normal; distances in sides of a cell along
 * x. For the phase, path lengths are integers in units of 2^-PATH_BITS wavelengths, and directions (1 - u, v, w)
 * integers in units of 2^-31: products are exact, and overflow of 64 bits is the reduction modulo a wavelength.
 *
 * Where the density is too large for a device (SLABS), each device has a slab of it along the axis CUT, and photons
 * migrate from device to device with the same history: xray_slabs.cl, behind this file. */
#define CELLS ((uint)GNX * (uint)GNY)
#define KEY ((uint2)(KEY0, KEY1))
#define DIRECTION_UNITS REAL(2147483648.0) /* 2^31, and its inverse */
#define PER_DIRECTION REAL(4.656612873077393e-10)
#define LARGEST_INT (REAL_BYTES == 8 ? REAL(2147483647.0) : REAL(2147483520.0)) /* the largest real that an int holds */
#define TALLY_UNITS ((real)((long)1 << TALLY_BITS)) /* of a photon */
#define ALONE (DENSE && BLOCKS_X * BLOCKS_Y * BLOCKS_Z == 1) /* whoever leaves the block leaves the box */
/* Collisions after which a work-item takes the next photon if its own has ended. In DENSE blocks photons have many, and
 * work-items that run together would wait for each one that ends: those of a while do it at once. */
#define STRETCH (DENSE ? 8 : 1)

/* A direction; as the integers 1 - u, v, w of the phase; its polarisation, used where POLARISED. */
typedef struct direction {
    real u, v, w;
    uint deficit_units;
    int v_units, w_units;
    real eu, ev, ew;
} direction;

static inline ulong square(int n) { return (ulong)((long)n * n); }

static inline void round_direction(direction *d)
{
    const real deficit = REAL(1.0) - d->u;
    const int v = convert_int_rte(clamp(d->v * DIRECTION_UNITS, -LARGEST_INT, LARGEST_INT));
    const int w = convert_int_rte(clamp(d->w * DIRECTION_UNITS, -LARGEST_INT, LARGEST_INT));
    uint m = convert_uint_rte(clamp(deficit * DIRECTION_UNITS, REAL(0.0), REAL(2.0) * LARGEST_INT));
    d->v_units = v;
    d->w_units = w;
    if (deficit < REAL(0.5)) { /* two iterations of 2 (1 - u) = v^2 + w^2 + (1 - u)^2 make the integers consistent */
        const ulong across = square(v) + square(w) + 0x80000000UL;
        m = (uint)((across + (ulong)m * m) >> 32);
        m = (uint)((across + (ulong)m * m) >> 32);
    }
    d->deficit_units = m;
}

/* 1 - cos theta by (3). */
static inline real scattering_deficit(uint w, global const real *angle)
{
    if (ANGLE_BITS == 0)
        return philox_word(w) * (DEFICIT * PHILOX_SCALE);
    const uint at = w >> (32 - ANGLE_BITS);
    return fma(philox_word(w << ANGLE_BITS) * PHILOX_SCALE, angle[at + 1] - angle[at], angle[at]);
}

/* The azimuth of polarised light, by rejection as in (4): its cosine and sine. */
static inline real polarised_azimuth(uint word, uint4 event, real sin_theta, real *s)
{
    real c = cos_sin(word, s);
    for (uint trial = 1; trial < 64; trial++) {
        const uint4 more = philox((uint4)(event.s0, event.s1, event.s2, trial), KEY);
        if (philox_real(more.s0) < REAL(1.0) - sin_theta * sin_theta * (c * c))
            break;
        c = cos_sin(more.s1, s);
    }
    return c;
}

/* The polarisation without its part along the direction, normalised. */
static inline void project_polarisation(direction *d)
{
    const real along = d->eu * d->u + d->ev * d->v + d->ew * d->w;
    const real eu = d->eu - along * d->u, ev = d->ev - along * d->v, ew = d->ew - along * d->w;
    const real size = REAL(1.0) / sqrt(eu * eu + ev * ev + ew * ew);
    d->eu = eu * size;
    d->ev = ev * size;
    d->ew = ew * size;
}

/* (4), from the first two words of the event. */
static inline void scatter(direction *d, uint4 words, uint4 event, global const real *angle)
{
    const real deficit = scattering_deficit(words.s0, angle), sin_theta = sqrt(deficit * (REAL(2.0) - deficit));
    const real c = REAL(1.0) - deficit;
    real u, v, w, s;
    if (POLARISED) {
        const real k = polarised_azimuth(words.s1, event, sin_theta, &s);
        const real gu = d->v * d->ew - d->w * d->ev, gv = d->w * d->eu - d->u * d->ew, gw = d->u * d->ev - d->v * d->eu;
        u = d->u * c + sin_theta * (k * d->eu + s * gu);
        v = d->v * c + sin_theta * (k * d->ev + s * gv);
        w = d->w * c + sin_theta * (k * d->ew + s * gw);
    } else { /* b by Duff et al., Journal of Computer Graphics Techniques 6 (2017) 1, mirrored where u < 0 */
        const real k = sin_theta * cos_sin(words.s1, &s), l = sin_theta * s;
        const real along = fma(k, d->v, l * d->w), a = REAL(1.0) / (REAL(1.0) + fabs(d->u));
        const real b = fma(-along, a, c);
        v = fma(d->v, b, k);
        w = fma(d->w, b, l);
        u = fma(d->u, c, d->u < 0 ? along : -along);
    }
    const real scale = fma(REAL(-0.5), fma(u, u, fma(v, v, w * w)), REAL(1.5)); /* a step of 1 / |d'| by Newton */
    d->u = u * scale;
    d->v = v * scale;
    d->w = w * scale;
    if (POLARISED)
        project_polarisation(d);
    round_direction(d);
}

/* Sums over path segments: length, units of 2^-PATH_BITS wavelengths, and times (1 - u, v, w), of which a unit is 2^31
 * times as small; start. */
typedef struct track {
    ulong length, deficit, y, z;
    int y0, z0;
} track;

static inline void advance_phase(track *k, const direction *d, real distance)
{
    const int path = convert_int_rte(distance * PATH_SCALE);
    k->length += (uint)path;
    k->deficit += (ulong)(uint)path * d->deficit_units;
    k->y += (ulong)((long)path * d->v_units);
    k->z += (ulong)((long)path * d->w_units);
}

static inline long to_path_units(ulong sum) { return (long)(sum + 0x40000000UL) >> 31; }

/* Along x: a length is (1 - u) + u of it. */
static inline long path_along_x(const track *k) { return to_path_units((k->length << 31) - k->deficit); }

/* (5) in units of 2 pi / 2^32; `direction` of the cell as integers. */
static inline uint phase(const track *k, global const int *direction)
{
    const long x = path_along_x(k), y = k->y0 + to_path_units(k->y), z = k->z0 + to_path_units(k->z);
    ulong sum = k->deficit + (ulong)(direction[0] * x);
    sum -= (ulong)(direction[1] * y);
    sum -= (ulong)(direction[2] * z);
    sum += (ulong)((long)BEAM_V_UNITS * k->y0);
    sum += (ulong)((long)BEAM_W_UNITS * k->z0);
    return (uint)(sum >> (PATH_BITS - 1));
}

/* Adds weight exp(i phi) to a cell, and the weight. */
static inline void deposit(volatile global long *image, uint cell, uint phi, real weight)
{
    real s;
    const real c = cos_sin(phi, &s);
    fixed_add(&image[4 * (size_t)cell], convert_long_rte(c * weight));
    fixed_add(&image[4 * (size_t)cell + 1], convert_long_rte(s * weight));
    fixed_add(&image[4 * (size_t)cell + 2], convert_long_rte(weight));
}

/* (7): density of the direction times solid angle of the cell times cells per sample, from a random cell on. */
static inline void deposit_expected(volatile global long *image, global const int *directions, const track *k,
                                    const direction *d, real share, uint w)
{
    uint cell = mul_hi(w, CELLS);
    for (int n = 0; n < SAMPLES; n++) {
        global const int *t = &directions[4 * (size_t)cell];
        const real du = REAL(1.0) - (real)t[0] * PER_DIRECTION - d->u, dv = (real)t[1] * PER_DIRECTION - d->v;
        const real dw = (real)t[2] * PER_DIRECTION - d->w;
        const real deficit = REAL(0.5) * (du * du + dv * dv + dw * dw);
        const real chance = ANGLE_BITS == 0 ? (deficit <= DEFICIT ? EXPECTATION : REAL(0.0))
                                            : EXPECTATION * (REAL(1.0) + (REAL(1.0) - deficit) * (REAL(1.0) - deficit));
        const real weight = chance * (real)t[3] * share;
        if (weight > 0)
            deposit(image, cell, phase(k, t), weight);
        cell = (cell + SAMPLE_STRIDE) % CELLS;
    }
}

/* Cell of the detector along one axis from the tangent of the angle; negative: outside. */
static inline int detector_cell(real tangent, real cells_per_unit, int cells)
{
    if (!(fabs(tangent) < REACH))
        return -1;
    const real at = (EQUAL_ANGLES ? arctangent(tangent, HALVINGS) : tangent) * cells_per_unit +
                    ((real)(cells / 2) + REAL(0.5));
    return at >= 0 && at < (real)cells ? (int)at : -1;
}

/* What a work-item counts, of XRAY_ROUNDS photons at most: eight bits for each order of scattering and for each fate;
 * the highest eight count all. */
#define DETECTED 0x01000001u
#define STOPPED 0x01000100u
#define MISSED 0x01010000u
typedef struct tally {
    ulong orders;
    uint fates;
    int scatterings;
    long cosines, squares, escaped;
} tally;

/* State of a photon, also returned by each part of its history. */
#define ENDED 0 /* outside the box, or after its last scattering */
#define IN_FLIGHT 1
#define LEAVES_SLAB 2 /* goes on in the slab of another device */

/* A photon: since its last scattering it has gone t from (x, y, z) along d, which is (dx, dy, dz) in cells. */
typedef struct photon {
    uint4 number, words; /* number, event; random words of the event */
    direction d;
    track k;
    real x, y, z, dx, dy, dz, t, depth; /* depth: optical depth left to the next tentative collision */
    ray_axis a, b, c;
    uint weight;     /* not absorbed, in units of 2^-TALLY_BITS: what is absorbed and what escapes add up exactly */
    int scatterings;
} photon;

static inline real share_left(const photon *p) { return (real)p->weight * (REAL(1.0) / TALLY_UNITS); }

/* Takes the absorbed share of the weight, rounded up or down by the lowest bits of a random word so that it is right on
 * average. */
static inline uint absorb(photon *p, uint w)
{
    const ulong dither = (ulong)(2 * (w & 255u) + 1) << (ABSORPTION_BITS - 9);
    const uint lost = (uint)(((ulong)p->weight * ABSORPTION_UNITS + dither) >> ABSORPTION_BITS);
    p->weight -= lost;
    return lost;
}

/* Where a photon's set of counters in the volume begins. There are several: additions to one address wait for each
 * other, and where the light enters many photons collide. */
static inline size_t set_of_counters(const photon *p)
{
    return (size_t)(p->number.s0 % VOLUME_SETS) * ((size_t)BOX_X * BOX_Y * BOX_Z);
}

static inline void enter_blocks(photon *p)
{
    begin_axis(&p->a, p->x, p->dx, p->t, BITS_X, BOX_X, BLOCKS_X);
    begin_axis(&p->b, p->y, p->dy, p->t, BITS_Y, BOX_Y, BLOCKS_Y);
    begin_axis(&p->c, p->z, p->dz, p->t, BITS_Z, BOX_Z, BLOCKS_Z);
}

static inline void set_beam_units(direction *d)
{
    d->deficit_units = BEAM_DEFICIT_UNITS;
    d->v_units = BEAM_V_UNITS;
    d->w_units = BEAM_W_UNITS;
}

static inline void set_direction_in_cells(photon *p)
{
    p->dx = p->d.u;
    p->dy = p->d.v * PER_Y;
    p->dz = p->d.w * PER_Z;
}

/* Start of a photon along one side of the entrance, from the middle, in path units; `normal`: a Gaussian number. */
static inline int entrance_place(uint w, uint aperture, int shift, uint face_cells, long cell_side, real normal)
{
    if (PROFILE == XRAY_PENCIL)
        return shift;
    const long at = shift + (PROFILE == XRAY_GAUSSIAN ? convert_long_rte(normal * (real)aperture)
                                                      : (long)mul_hi(w, aperture) - (long)(aperture >> 1));
    if (POSITIONS == XRAY_RANDOM)
        return (int)at;
    /* The middle of its cell; the side of a cell has 16 fractional bits. */
    const long edge = cell_side * (long)face_cells / 2, cell = ((at << 16) + edge) / cell_side;
    return (int)((cell * cell_side + cell_side / 2 - edge) >> 16);
}

/* A new photon, through the entrance to the bounding box; ENDED if it passes beside the box. */
static inline int emit(photon *p, ulong number)
{
    p->number = (uint4)((uint)number, (uint)(number >> 32), 0, 0);
    p->words = philox(p->number, KEY);
    p->d.u = BEAM_U;
    p->d.v = BEAM_V;
    p->d.w = BEAM_W;
    set_beam_units(&p->d);
    p->d.eu = E_U;
    p->d.ev = E_V;
    p->d.ew = E_W;
    real sine = 0, radius = 0, cosine = 0;
    if (PROFILE == XRAY_GAUSSIAN) { /* Box and Muller 1958 */
        radius = sqrt(REAL(2.0) * exponential(p->words.s0));
        cosine = cos_sin(p->words.s1, &sine);
    }
    p->k.length = p->k.deficit = p->k.y = p->k.z = 0;
    p->k.y0 = entrance_place(p->words.s0, APERTURE_Y, SHIFT_Y, FACE_CELLS_Y, CELL_SIDE_Y, radius * cosine);
    p->k.z0 = entrance_place(p->words.s1, APERTURE_Z, SHIFT_Z, FACE_CELLS_Z, CELL_SIDE_Z, radius * sine);
    p->x = START_X;
    p->y = (real)p->k.y0 * UNIT_Y + CENTRE_Y;
    p->z = (real)p->k.z0 * UNIT_Z + CENTRE_Z;
    set_direction_in_cells(p);
    p->scatterings = 0;
    p->weight = 1u << TALLY_BITS;
    p->t = 0;
    real in = 0, out = FAR_AWAY;
    if (!clip_ray(p->x, p->dx, (real)BOX_X, &in, &out) || !clip_ray(p->y, p->dy, (real)BOX_Y, &in, &out) ||
        !clip_ray(p->z, p->dz, (real)BOX_Z, &in, &out))
        return ENDED;
    p->t = in;
    return IN_FLIGHT;
}

static inline void begin_flight(photon *p)
{
    p->depth = exponential(p->words.s2);
    enter_blocks(p);
}

/* What a device has of the density: blocks along the axis of the slabs; the mean free path if the block is ALONE. */
typedef struct slab {
    int first, end;
    real path;
} slab;

static inline int block_along_cut(const photon *p) { return ALONG(CUT, p->a.block, p->b.block, p->c.block); }
static inline int is_in(slab s, int block) { return !SLABS || (block >= s.first && block < s.end); }

static inline real majorant_here(const photon *p, slab s, global const real *majorant)
{
    return majorant[slab_index(CUT, s.first, p->a.block, p->b.block, p->c.block, BLOCKS_X, BLOCKS_Y, BLOCKS_Z)];
}

/* How far the photon has gone at its next tentative collision, if it stays where the majorant is `most`. */
static inline real next_collision(const photon *p, slab s, real most)
{
    return fma(p->depth, ALONE ? s.path : REAL(1.0) / most, p->t);
}

/* Whether that collision lies in the photon's block. Where blocks are DENSE it mostly does, and then where the way
 * leaves the block is not computed. */
static inline int collides_here(const photon *p, slab s, real most)
{
    const real t = next_collision(p, s, most);
    return is_in_block(fma(p->dx, t, p->x), p->a.block, BITS_X, BOX_X) &&
           is_in_block(fma(p->dy, t, p->y), p->b.block, BITS_Y, BOX_Y) &&
           is_in_block(fma(p->dz, t, p->z), p->c.block, BITS_Z, BOX_Z);
}

/* (1): from block to block up to the next tentative collision, unless the photon leaves the box or the slab before. */
static inline int reach_collision(photon *p, slab s, global const real *majorant, real *most, int fresh)
{
    if (DENSE && fresh) {
        *most = majorant_here(p, s, majorant);
        if (collides_here(p, s, *most))
            return IN_FLIGHT;
        if (ALONE)
            return ENDED;
        enter_blocks(p);
    }
    for (;;) {
        if (!is_in(s, block_along_cut(p)))
            return LEAVES_SLAB;
        *most = majorant_here(p, s, majorant);
        const real a = p->a.exit, b = p->b.exit, c = p->c.exit;
        const real next = a < b ? (a < c ? a : c) : (b < c ? b : c);
        const real way = next > p->t ? next - p->t : REAL(0.0);
        if (p->depth < *most * way)
            return IN_FLIGHT;
        p->depth = p->depth - *most * way;
        p->t = next;
        const int inside = next == a   ? next_block(&p->a, BITS_X, BOX_X, BLOCKS_X)
                           : next == b ? next_block(&p->b, BITS_Y, BOX_Y, BLOCKS_Y)
                                       : next_block(&p->c, BITS_Z, BOX_Z, BLOCKS_Z);
        if (!inside)
            return ENDED;
    }
}

/* (2) and, if the collision is real, absorption and scattering; ENDED after the last scattering. */
static inline int collide(photon *p, slab s, real most, global const real *optical, global const int *directions,
                          global const real *angle, volatile global long *image, volatile global long *volume)
{
    p->t = next_collision(p, s, most);
    const real x = fma(p->dx, p->t, p->x), y = fma(p->dy, p->t, p->y), z = fma(p->dz, p->t, p->z);
    const uint chance = p->words.s3;
    p->number.s2++;
    p->words = philox(p->number, KEY);
    p->depth = exponential(p->words.s2);
    int cx = p->a.block, cy = p->b.block, cz = p->c.block;
    if (THINNED || VOLUME) {
        cx = cell_in_block(x, p->a.block, BITS_X, BOX_X);
        cy = cell_in_block(y, p->b.block, BITS_Y, BOX_Y);
        cz = cell_in_block(z, p->c.block, BITS_Z, BOX_Z);
        const int first = s.first << ALONG(CUT, BITS_X, BITS_Y, BITS_Z);
        if (THINNED &&
            !(philox_real(chance) * most < optical[slab_index(CUT, first, cx, cy, cz, BOX_X, BOX_Y, BOX_Z)]))
            return IN_FLIGHT;
    }
    advance_phase(&p->k, &p->d, p->t);
    p->scatterings++;
    const uint lost = ABSORBING ? absorb(p, chance) : 1;
    if (VOLUME)
        fixed_add(&volume[set_of_counters(p) + slab_index(2, 0, cx, cy, cz, BOX_X, BOX_Y, BOX_Z)], lost);
    if (ESTIMATOR == XRAY_EXPECTED)
        deposit_expected(image, directions, &p->k, &p->d, share_left(p), p->words.s3);
    scatter(&p->d, p->words, p->number, angle);
    if (p->scatterings == SCATTERINGS_MAX)
        return ENDED;
    p->x = x;
    p->y = y;
    p->z = z;
    set_direction_in_cells(p);
    p->t = 0;
    if (!DENSE)
        enter_blocks(p);
    return IN_FLIGHT;
}

/* Through free space to the detector, (6). */
static inline void detect(const photon *p, global const int *directions, volatile global long *image, tally *count)
{
    count->orders += (ulong)1 << 8 * min(p->scatterings, XRAY_ORDERS - 1);
    count->scatterings += p->scatterings;
    count->escaped += p->weight;
    count->cosines += convert_long_rte(p->d.u * TALLY_UNITS);
    count->squares += convert_long_rte(p->d.u * p->d.u * TALLY_UNITS);
    int cell_y = -1, cell_z = -1;
    if (p->d.u > 0) {
        /* Tangent of the direction, and of where its line meets the entrance, as seen from the detector. */
        const real ty = p->d.v / p->d.u, tz = p->d.w / p->d.u, x = (real)path_along_x(&p->k);
        const real py = ((real)((long)p->k.y0 + to_path_units(p->k.y)) - x * ty) * FAR_Y;
        const real pz = ((real)((long)p->k.z0 + to_path_units(p->k.z)) - x * tz) * FAR_Z;
        cell_y = detector_cell(ty + py, PER_CELL_Y, GNX);
        cell_z = detector_cell(tz + pz, PER_CELL_Z, GNY);
    }
    if (cell_y < 0 || cell_z < 0) {
        count->fates += MISSED;
        return;
    }
    const uint cell = (uint)cell_z * GNX + (uint)cell_y;
    global const int *t = &directions[4 * (size_t)cell];
    if (t[3] == 0) { /* behind the beam stop */
        count->fates += STOPPED;
        return;
    }
    count->fates += DETECTED;
    if (ESTIMATOR == XRAY_ANALOG) /* else (7) has made the picture, which lacks the direct beam */
        deposit(image, cell, phase(&p->k, t), share_left(p) * (real)((long)1 << FIXED_BITS));
}

static inline void add_component(volatile global long *tallies, size_t at, long value)
{
    if (value != 0)
        fixed_add(tallies + at, value);
}

/* Adds what was counted to a cell's tallies, `plane` elements apart. */
static inline void add_tally(volatile global long *tallies, size_t plane, const tally *count)
{
    for (int n = 0; n < XRAY_ORDERS; n++)
        add_component(tallies, n * plane, (long)(count->orders >> 8 * n & 255));
    add_component(tallies, XRAY_DETECTED * plane, count->fates & 255);
    add_component(tallies, XRAY_STOPPED * plane, count->fates >> 8 & 255);
    add_component(tallies, XRAY_MISSED * plane, count->fates >> 16 & 255);
    add_component(tallies, XRAY_SCATTERINGS * plane, count->scatterings);
    add_component(tallies, XRAY_COSINES * plane, count->cosines);
    add_component(tallies, XRAY_SQUARES * plane, count->squares);
    add_component(tallies, XRAY_ESCAPED * plane, count->escaped);
}

#if !SLABS
/* Photons first ... first + rounds * CELLS - 1 from `begin` on and below `end`, each number in two words; those of a
 * cell by `layers` work-items in turn. `first` is the batch's first or whole rounds after it, `begin` less than CELLS
 * after `first`. A work-item takes its next photon as soon as one has ended: no lane waits for a long history. */
kernel void xray_trace(global const real *restrict optical, global const real *restrict majorant,
                       global const int *restrict directions, global const real *restrict angle,
                       volatile global long *image, volatile global long *volume, volatile global long *tallies,
                       uint first0, uint first1, uint begin0, uint begin1, uint end0, uint end1, uint rounds,
                       uint layers)
{
    CELL_APART(i, j, layer);
    uint round = layer;
    const ulong begin = (ulong)begin1 << 32 | begin0, end = (ulong)end1 << 32 | end0;
    ulong number = ((ulong)first1 << 32 | first0) + (ulong)(Y0 + j) * GNX + (ulong)(X0 + i) + (ulong)round * CELLS;
    if (number < begin) {
        round += layers;
        number += (ulong)layers * CELLS;
    }
    const slab all = { 0, ALONG(CUT, BLOCKS_X, BLOCKS_Y, BLOCKS_Z), ALONE ? REAL(1.0) / majorant[0] : REAL(0.0) };
    tally count = { 0, 0, 0, 0, 0, 0 };
    photon p;
    int flying = 0;
    while (round < rounds && number < end) {
        if (!flying) {
            flying = emit(&p, number);
            if (flying)
                begin_flight(&p);
        }
        ROLLED
        for (int n = 0; n < STRETCH; n++) {
            real most = 0;
            /* Mesa 22.3 compiles these two tests right, but not && between the calls, a function around them, or ==;
             * nor `flying` among the loop's conditions. */
            if (flying)
                flying = reach_collision(&p, all, majorant, &most, 1);
            if (flying)
                flying = collide(&p, all, most, optical, directions, angle, image, volume);
        }
        if (!flying) {
            detect(&p, directions, image, &count);
            round += layers;
            number += (ulong)layers * CELLS;
        }
    }
    add_tally(tallies + AT(i, j), (size_t)PLANE, &count);
}
#endif

/* Adds what the photons have deposited since the last call to the sums, and forms the fields of the output. After a
 * coherence time (`fresh`) the amplitude starts from zero; `past` is the intensity of the coherence times before. */
kernel void xray_gather(volatile global long *image, global long *restrict sums, global real *restrict past,
                        global real *restrict amplitude, global real *restrict intensity,
                        global real *restrict log_intensity, global real *restrict photons, int fresh)
{
    CELL(i, j);
    const size_t cell = 4 * ((size_t)(Y0 + j) * GNX + (size_t)(X0 + i));
    const index_t at = AT(i, j);
    const real unit = REAL(1.0) / (real)((long)1 << FIXED_BITS);
    real done = past[at];
    if (fresh) {
        const real a = amplitude[at], b = amplitude[at + PLANE];
        done = done + (a * a + b * b);
        past[at] = done;
    }
    const long re = (fresh ? 0 : sums[at]) + image[cell], im = (fresh ? 0 : sums[at + PLANE]) + image[cell + 1];
    const long hits = sums[at + 2 * (index_t)PLANE] + image[cell + 2];
    image[cell] = image[cell + 1] = image[cell + 2] = 0;
    sums[at] = re;
    sums[at + PLANE] = im;
    sums[at + 2 * (index_t)PLANE] = hits;
    const real a = (real)re * unit, b = (real)im * unit, all = done + (a * a + b * b);
    amplitude[at] = a;
    amplitude[at + PLANE] = b;
    intensity[at] = all;
    log_intensity[at] = decades(all * GAIN + REAL(1.0));
    photons[at] = (real)hits * unit;
}
