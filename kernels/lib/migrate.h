/* migrate.h: for kernels of range BN_PER_PARTICLE, whose particles migrate between devices (host/api/migrate.h). The
 * argument BN_MIGRATING is one array of 32-bit words: a head, a word of memory for each work-item, arriving particles,
 * room for departing ones. A particle is so many words, the first of which is the number of the device that it
 * migrates to.
 *
 *     const uint item = get_global_id(0);
 *     if (item >= migrate_items(m)) return;
 *     if (item < migrate_come(m)) { global const uint *p = migrate_arrival(m, item); ... p[1] ... }
 *     ... and, unless migrate_hold(m), what it begins by itself, from migrate_memory(m, item) on ...
 *     global uint *p = migrate_departure(m); p[0] = device; p[1] = ...;       at most once in a launch
 *
 * A work-item that has sent a particle away ends there and remembers where it was: there is always room for
 * departures. */
#define MIGRATE_ITEMS 0  /* work-items: particles that there is room for */
#define MIGRATE_WORDS 1  /* of a particle */
#define MIGRATE_DEVICE 2 /* this device's number among those of all ranks */
#define MIGRATE_COME 3   /* arriving particles: those of work-items 0, 1, ... */
#define MIGRATE_HOLD 4   /* more particles wait for some device than it has room for: none is to be begun */
#define MIGRATE_LEAVE 5  /* departing particles */
#define MIGRATE_HEAD 16

static inline uint migrate_items(global const uint *t) { return t[MIGRATE_ITEMS]; }
static inline uint migrate_device(global const uint *t) { return t[MIGRATE_DEVICE]; }
static inline uint migrate_come(global const uint *t) { return t[MIGRATE_COME]; }
static inline uint migrate_hold(global const uint *t) { return t[MIGRATE_HOLD]; }

/* A word for each work-item that is kept from launch to launch; zero in the first one of a bn_migration. */
static inline global uint *migrate_memory(global uint *t, uint item) { return t + MIGRATE_HEAD + item; }

static inline global uint *migrate_arrival(global uint *t, uint item)
{
    return t + MIGRATE_HEAD + t[MIGRATE_ITEMS] + (size_t)item * t[MIGRATE_WORDS];
}

static inline global uint *migrate_departure(global uint *t)
{
    const uint place = atomic_inc((volatile global uint *)&t[MIGRATE_LEAVE]);
    return t + MIGRATE_HEAD + t[MIGRATE_ITEMS] + ((size_t)t[MIGRATE_ITEMS] + place) * t[MIGRATE_WORDS];
}

/* Reals and 64-bit integers as words, and back; each gives the place behind. */
static inline global uint *migrate_put_long(global uint *to, ulong value)
{
    to[0] = (uint)value;
    to[1] = (uint)(value >> 32);
    return to + 2;
}

static inline ulong migrate_long(global const uint *from) { return (ulong)from[1] << 32 | from[0]; }

#if REAL_BYTES == 8
#define MIGRATE_REAL 2 /* words of a real */
static inline global uint *migrate_put(global uint *to, real value) { return migrate_put_long(to, as_ulong(value)); }
static inline real migrate_real(global const uint *from) { return as_double(migrate_long(from)); }
#else
#define MIGRATE_REAL 1
static inline global uint *migrate_put(global uint *to, real value)
{
    to[0] = as_uint(value);
    return to + 1;
}
static inline real migrate_real(global const uint *from) { return as_float(from[0]); }
#endif

/* For lists of members, LIST(X) with X(member): from the particle *p to the words `to`, or from the words `from`. */
#define MIGRATE_PUT_INTEGER(member) *to++ = (uint)p->member;
#define MIGRATE_PUT_LONG(member) to = migrate_put_long(to, p->member);
#define MIGRATE_PUT_REAL(member) to = migrate_put(to, p->member);
#define MIGRATE_GET_INTEGER(member) p->member = *from++;
#define MIGRATE_GET_LONG(member) p->member = migrate_long(from), from += 2;
#define MIGRATE_GET_REAL(member) p->member = migrate_real(from), from += MIGRATE_REAL;
