/* migrate.h: for kernels of range BN_PER_TRAVELLER, whose work goes on on another device (host/api/migrate.h). The
 * argument BN_TRAVELLERS is one array of 32-bit words: a head, a word for each work-item to remember by, those who have
 * come, room for those who leave. A traveller is so many words, the first of which is the number of the device that it
 * goes to.
 *
 *     const uint item = get_global_id(0);
 *     if (item >= travel_items(travel)) return;
 *     if (item < travel_come(travel)) { global const uint *t = travel_arrival(travel, item); ... t[1] ... }
 *     ... and, unless travel_hold(travel), what it begins by itself, from travel_memory(travel, item) on ...
 *     global uint *t = travel_departure(travel); t[0] = device; t[1] = ...;       at most once in a launch
 *
 * A work-item that has sent one away ends there and remembers where it was; so nobody has to be turned away for lack of
 * room.
 */
#define TRAVEL_ITEMS 0  /* work-items: travellers that there is room for */
#define TRAVEL_WORDS 1  /* of a traveller */
#define TRAVEL_DEVICE 2 /* this device's number among those of all ranks */
#define TRAVEL_COME 3   /* how many have come: those of work-items 0, 1, ... */
#define TRAVEL_HOLD 4   /* some device has more waiting than it can take: nothing new is to be begun */
#define TRAVEL_LEAVE 5  /* how many leave */
#define TRAVEL_HEAD 16

static inline uint travel_items(global const uint *t) { return t[TRAVEL_ITEMS]; }
static inline uint travel_device(global const uint *t) { return t[TRAVEL_DEVICE]; }
static inline uint travel_come(global const uint *t) { return t[TRAVEL_COME]; }
static inline uint travel_hold(global const uint *t) { return t[TRAVEL_HOLD]; }

/* A word for each work-item that is kept from launch to launch; zero in the first one of a bn_travel. */
static inline global uint *travel_memory(global uint *t, uint item) { return t + TRAVEL_HEAD + item; }

static inline global uint *travel_arrival(global uint *t, uint item)
{
    return t + TRAVEL_HEAD + t[TRAVEL_ITEMS] + (size_t)item * t[TRAVEL_WORDS];
}

static inline global uint *travel_departure(global uint *t)
{
    const uint place = atomic_inc((volatile global uint *)&t[TRAVEL_LEAVE]);
    return t + TRAVEL_HEAD + t[TRAVEL_ITEMS] + ((size_t)t[TRAVEL_ITEMS] + place) * t[TRAVEL_WORDS];
}

/* Reals and 64-bit integers as words, and back; each gives the place behind. */
static inline global uint *travel_put_long(global uint *to, ulong value)
{
    to[0] = (uint)value;
    to[1] = (uint)(value >> 32);
    return to + 2;
}

static inline ulong travel_long(global const uint *from) { return (ulong)from[1] << 32 | from[0]; }

#if REAL_BYTES == 8
#define TRAVEL_REAL 2 /* words of a real */
static inline global uint *travel_put(global uint *to, real value) { return travel_put_long(to, as_ulong(value)); }
static inline real travel_real(global const uint *from) { return as_double(travel_long(from)); }
#else
#define TRAVEL_REAL 1
static inline global uint *travel_put(global uint *to, real value)
{
    to[0] = as_uint(value);
    return to + 1;
}
static inline real travel_real(global const uint *from) { return as_float(from[0]); }
#endif
