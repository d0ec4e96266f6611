/* netcdf_file.c: the classic format of NetCDF (netcdf_file.h). */
#include "io/netcdf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { DIMENSIONS = 8, VARIABLES = 80, RANK = 2, NAME = 64, PIECE = 1 << 16, CHARACTERS = 2, HEADER_MOST = 1 << 20 };
enum { TAG_DIMENSION = 10, TAG_VARIABLE = 11, TAG_ATTRIBUTE = 12 };
#define MAGIC "CDF\2"

/* Bytes of the header, while it is made (they grow) or read (`at` moves). */
typedef struct bytes {
    unsigned char *data;
    size_t size, at;
} bytes;

typedef struct attributes {
    bytes text;
    uint32_t count;
} attributes;

typedef struct variable {
    char name[NAME], unit[NAME];
    bn_netcdf_type type;
    int rank, dimension[RANK];
    attributes attributes;
    uint64_t size, begin; /* bytes, of a record if it has records; where they begin */
    bool records;
} variable;

struct bn_netcdf {
    int descriptor, error, dimensions, variables;
    bool own; /* the descriptor is closed with it */
    struct {
        char name[NAME];
        uint32_t length;
    } dimension[DIMENSIONS];
    variable variable[VARIABLES];
    attributes attributes;
    uint64_t record_size, records;
    unsigned char piece[PIECE];
};

static void fail(bn_netcdf *n, int error)
{
    if (n->error == 0)
        n->error = error;
}

/* --- numbers, big-endian --- */

static void put_number(unsigned char *to, uint64_t value, int width)
{
    for (int i = 0; i < width; i++)
        to[i] = (unsigned char)(value >> (8 * (width - 1 - i)));
}

static uint64_t get_number(const unsigned char *from, int width)
{
    uint64_t value = 0;
    for (int i = 0; i < width; i++)
        value = value << 8 | from[i];
    return value;
}

static void add(bn_netcdf *n, bytes *b, const void *data, size_t size)
{
    const size_t padded = (size + 3) / 4 * 4;
    unsigned char *grown = n->error ? NULL : realloc(b->data, b->size + padded);
    if (!grown) {
        fail(n, ENOMEM);
        return;
    }
    b->data = grown;
    memset(grown + b->size, 0, padded);
    if (size > 0)
        memcpy(grown + b->size, data, size);
    b->size += padded;
}

static void add_number(bn_netcdf *n, bytes *b, uint64_t value, int width)
{
    unsigned char text[8];
    put_number(text, value, width);
    add(n, b, text, (size_t)width);
}

static void add_name(bn_netcdf *n, bytes *b, const char *name)
{
    add_number(n, b, strlen(name), 4);
    add(n, b, name, strlen(name));
}

/* A list begins with its tag and length, or two zeros. */
static void add_tag(bn_netcdf *n, bytes *b, uint32_t tag, uint32_t count)
{
    add_number(n, b, count ? tag : 0, 4);
    add_number(n, b, count, 4);
}

/* --- definitions --- */

bn_netcdf *bn_netcdf_create(int descriptor)
{
    bn_netcdf *n = calloc(1, sizeof *n);
    if (n)
        n->descriptor = descriptor;
    return n;
}

void bn_netcdf_close(bn_netcdf **file)
{
    bn_netcdf *n = *file;
    if (!n)
        return;
    if (n->own)
        close(n->descriptor); /* it was only read */
    for (int v = 0; v < n->variables; v++)
        free(n->variable[v].attributes.text.data);
    free(n->attributes.text.data);
    free(n);
    *file = NULL;
}

int bn_netcdf_error(const bn_netcdf *n) { return n->error; }
size_t bn_netcdf_records(const bn_netcdf *n) { return (size_t)n->records; }

int bn_netcdf_variables(const bn_netcdf *n) { return n->variables; }

int bn_netcdf_find(const bn_netcdf *n, const char *name)
{
    for (int v = 0; v < n->variables; v++)
        if (strcmp(n->variable[v].name, name) == 0)
            return v;
    return -1;
}

bool bn_netcdf_alike(const bn_netcdf *a, const bn_netcdf *b)
{
    bool same = a->variables == b->variables;
    for (int v = 0; same && v < a->variables; v++) {
        const variable *x = &a->variable[v], *y = &b->variable[v];
        same = strcmp(x->name, y->name) == 0 && x->type == y->type && x->records == y->records && x->size == y->size;
    }
    return same;
}

static bool take_name(bn_netcdf *n, char own[NAME], const char *name, int have, int most)
{
    if (have >= most || strlen(name) >= NAME)
        fail(n, E2BIG);
    else
        memcpy(own, name, strlen(name) + 1);
    return n->error == 0;
}

int bn_netcdf_dimension(bn_netcdf *n, const char *name, size_t length)
{
    const int d = n->dimensions;
    if (length > INT32_MAX)
        fail(n, EFBIG);
    if (!take_name(n, n->dimension[d < DIMENSIONS ? d : 0].name, name, d, DIMENSIONS))
        return 0;
    n->dimension[d].length = (uint32_t)length;
    return n->dimensions++;
}

int bn_netcdf_variable(bn_netcdf *n, const char *name, bn_netcdf_type type, int dimensions, const int *dimension)
{
    const int v = n->variables;
    if (!take_name(n, n->variable[v < VARIABLES ? v : 0].name, name, v, VARIABLES))
        return 0;
    variable *x = &n->variable[v];
    x->type = type;
    x->rank = dimensions < RANK ? dimensions : RANK;
    for (int d = 0; d < x->rank; d++)
        x->dimension[d] = dimension[d];
    return n->variables++;
}

static void add_attribute(bn_netcdf *n, int at, const char *name, uint32_t type, const void *value, size_t size,
                          uint32_t count)
{
    attributes *a = at == BN_NETCDF_GLOBAL ? &n->attributes : &n->variable[at].attributes;
    add_name(n, &a->text, name);
    add_number(n, &a->text, type, 4);
    add_number(n, &a->text, count, 4);
    add(n, &a->text, value, size);
    a->count++;
}

void bn_netcdf_text(bn_netcdf *n, int at, const char *name, const char *text)
{
    add_attribute(n, at, name, CHARACTERS, text, strlen(text), (uint32_t)strlen(text));
}

void bn_netcdf_number(bn_netcdf *n, int at, const char *name, int value)
{
    unsigned char text[4];
    put_number(text, (uint32_t)value, 4);
    add_attribute(n, at, name, BN_NETCDF_INT, text, sizeof text, 1);
}

static size_t width_of(const variable *x) { return x->type == BN_NETCDF_DOUBLE ? 8 : 4; }

bn_netcdf_info bn_netcdf_describe(const bn_netcdf *n, int v)
{
    const variable *x = &n->variable[v];
    return (bn_netcdf_info){ x->name, x->unit, x->type, (size_t)x->size / width_of(x), x->records };
}

static void set_size(bn_netcdf *n, variable *x)
{
    x->size = width_of(x);
    x->records = false;
    for (int d = 0; d < x->rank; d++) {
        const uint32_t length = n->dimension[x->dimension[d]].length;
        x->records = x->records || length == 0;
        x->size *= length ? length : 1;
    }
    if (x->size > UINT32_MAX - 3) /* the header has four bytes for it */
        fail(n, EFBIG);
}

static void add_attributes(bn_netcdf *n, bytes *b, const attributes *a)
{
    add_tag(n, b, TAG_ATTRIBUTE, a->count);
    add(n, b, a->text.data, a->text.size);
}

static void make_header(bn_netcdf *n, bytes *b)
{
    b->size = 0;
    add(n, b, MAGIC, 4);
    add_number(n, b, n->records, 4);
    add_tag(n, b, TAG_DIMENSION, (uint32_t)n->dimensions);
    for (int d = 0; d < n->dimensions; d++) {
        add_name(n, b, n->dimension[d].name);
        add_number(n, b, n->dimension[d].length, 4);
    }
    add_attributes(n, b, &n->attributes);
    add_tag(n, b, TAG_VARIABLE, (uint32_t)n->variables);
    for (int v = 0; v < n->variables; v++) {
        const variable *x = &n->variable[v];
        add_name(n, b, x->name);
        add_number(n, b, (uint64_t)x->rank, 4);
        for (int d = 0; d < x->rank; d++)
            add_number(n, b, (uint64_t)x->dimension[d], 4);
        add_attributes(n, b, &x->attributes);
        add_number(n, b, (uint64_t)x->type, 4);
        add_number(n, b, x->size, 4);
        add_number(n, b, x->begin, 8);
    }
}

/* Where the arrays of variables with records, or without, begin: one after the other from `at` on; the end. */
static uint64_t place(bn_netcdf *n, bool records, uint64_t at)
{
    for (int v = 0; v < n->variables; v++)
        if (n->variable[v].records == records) {
            n->variable[v].begin = at;
            at += n->variable[v].size;
        }
    return at;
}

static void write_all(bn_netcdf *n, const unsigned char *data, size_t size, uint64_t at)
{
    while (n->error == 0 && size > 0) {
        const ssize_t written = pwrite(n->descriptor, data, size, (off_t)at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            fail(n, written < 0 ? errno : EIO);
            return;
        }
        data += written;
        size -= (size_t)written;
        at += (uint64_t)written;
    }
}

void bn_netcdf_begin(bn_netcdf *n)
{
    bytes header = { NULL, 0, 0 };
    for (int v = 0; v < n->variables; v++)
        set_size(n, &n->variable[v]);
    make_header(n, &header); /* its length does not depend on the places in it */
    const uint64_t records = place(n, false, header.size);
    n->record_size = place(n, true, records) - records;
    make_header(n, &header);
    write_all(n, header.data, header.size, 0);
    if (n->error == 0 && ftruncate(n->descriptor, (off_t)records) != 0)
        fail(n, errno);
    free(header.data);
}

/* --- values --- */

static uint64_t place_of(const bn_netcdf *n, const variable *x, size_t record, size_t first)
{
    return x->begin + (x->records ? record * n->record_size : 0) + first * width_of(x);
}

/* Values of 4 or 8 bytes in the other order of bytes, where the machine has another. */
static void turn(unsigned char *to, const unsigned char *from, size_t count, size_t width)
{
    const uint32_t one = 1;
    const bool little = *(const unsigned char *)&one == 1;
    for (size_t i = 0; i < count * width; i += width)
        for (size_t b = 0; b < width; b++)
            to[i + b] = from[i + (little ? width - 1 - b : b)];
}

void bn_netcdf_put(bn_netcdf *n, int number, size_t record, size_t first, size_t count, const void *values)
{
    const variable *x = &n->variable[number];
    const size_t width = width_of(x);
    const unsigned char *from = values;
    for (size_t done = 0; n->error == 0 && done < count;) {
        const size_t some = count - done < PIECE / width ? count - done : PIECE / width;
        turn(n->piece, from + done * width, some, width);
        write_all(n, n->piece, some * width, place_of(n, x, record, first + done));
        done += some;
    }
}

static bool read_all(int descriptor, unsigned char *data, size_t size, uint64_t at)
{
    while (size > 0) {
        const ssize_t got = pread(descriptor, data, size, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        data += got;
        size -= (size_t)got;
        at += (uint64_t)got;
    }
    return true;
}

void bn_netcdf_get(bn_netcdf *n, int number, size_t record, size_t first, size_t count, void *values)
{
    const variable *x = &n->variable[number];
    const size_t width = width_of(x);
    unsigned char *to = values;
    for (size_t done = 0; n->error == 0 && done < count;) {
        const size_t some = count - done < PIECE / width ? count - done : PIECE / width;
        if (read_all(n->descriptor, n->piece, some * width, place_of(n, x, record, first + done)))
            turn(to + done * width, n->piece, some, width);
        else
            fail(n, EIO);
        done += some;
    }
}

void bn_netcdf_count(bn_netcdf *n, size_t records)
{
    unsigned char text[4];
    if (records > INT32_MAX)
        fail(n, EFBIG);
    n->records = records;
    put_number(text, records, 4);
    write_all(n, text, sizeof text, 4);
}

/* --- reading the header; what this program did not write is refused --- */

static uint64_t next_number(bn_netcdf *n, bytes *b, int width)
{
    if (b->size - b->at < (size_t)width) {
        fail(n, EINVAL);
        return 0;
    }
    b->at += (size_t)width;
    return get_number(b->data + b->at - width, width);
}

/* Skips `count` padded bytes and returns their address; NULL beyond the end. */
static const unsigned char *skip(bn_netcdf *n, bytes *b, uint64_t count)
{
    if (count > b->size || b->size - b->at < (count + 3) / 4 * 4) {
        fail(n, EINVAL);
        return NULL;
    }
    b->at += (size_t)((count + 3) / 4 * 4);
    return b->data + b->at - (count + 3) / 4 * 4;
}

static void next_name(bn_netcdf *n, bytes *b, char name[NAME])
{
    const uint64_t length = next_number(n, b, 4);
    const unsigned char *text = skip(n, b, length);
    if (!text || length >= NAME) {
        fail(n, EINVAL);
        return;
    }
    memcpy(name, text, (size_t)length);
    name[length] = '\0';
}

static int next_count(bn_netcdf *n, bytes *b, uint32_t tag, uint64_t most)
{
    const uint64_t found = next_number(n, b, 4), count = next_number(n, b, 4);
    if ((found != tag && (found != 0 || count != 0)) || count > most)
        fail(n, EINVAL);
    return n->error ? 0 : (int)count;
}

/* Of the attributes a variable keeps its unit. */
static void read_attributes(bn_netcdf *n, bytes *b, variable *of)
{
    char name[NAME];
    const int count = next_count(n, b, TAG_ATTRIBUTE, 1 << 16);
    for (int i = 0; i < count && n->error == 0; i++) {
        next_name(n, b, name);
        const uint64_t type = next_number(n, b, 4), values = next_number(n, b, 4);
        const unsigned char *text = skip(n, b, values * (type <= CHARACTERS ? 1 : type == BN_NETCDF_DOUBLE ? 8 : 4));
        if (of && text && type == CHARACTERS && values < NAME && strcmp(name, "units") == 0)
            memcpy(of->unit, text, (size_t)values);
    }
}

static void next_variable(bn_netcdf *n, bytes *b, variable *x)
{
    next_name(n, b, x->name);
    const uint64_t rank = next_number(n, b, 4);
    if (rank > RANK)
        fail(n, EINVAL);
    for (uint64_t d = 0; d < rank && n->error == 0; d++) {
        x->dimension[d] = (int)next_number(n, b, 4);
        if (x->dimension[d] < 0 || x->dimension[d] >= n->dimensions)
            fail(n, EINVAL);
    }
    read_attributes(n, b, x);
    x->type = (bn_netcdf_type)next_number(n, b, 4);
    if (x->type != BN_NETCDF_INT && x->type != BN_NETCDF_FLOAT && x->type != BN_NETCDF_DOUBLE)
        fail(n, EINVAL);
    (void)next_number(n, b, 4); /* the size follows from type and dimensions */
    x->begin = next_number(n, b, 8);
    if (n->error == 0) {
        x->rank = (int)rank;
        set_size(n, x);
        n->record_size += x->records ? x->size : 0;
    }
}

static void read_header(bn_netcdf *n, bytes *b)
{
    const unsigned char *magic = skip(n, b, 4);
    if (!magic || memcmp(magic, MAGIC, 4) != 0)
        fail(n, EINVAL);
    n->records = next_number(n, b, 4);
    n->dimensions = next_count(n, b, TAG_DIMENSION, DIMENSIONS);
    for (int d = 0; d < n->dimensions && n->error == 0; d++) {
        next_name(n, b, n->dimension[d].name);
        n->dimension[d].length = (uint32_t)next_number(n, b, 4);
    }
    read_attributes(n, b, NULL);
    n->variables = next_count(n, b, TAG_VARIABLE, VARIABLES);
    for (int v = 0; v < n->variables && n->error == 0; v++)
        next_variable(n, b, &n->variable[v]);
}

bn_netcdf *bn_netcdf_open(const char *path)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    const off_t end = descriptor >= 0 ? lseek(descriptor, 0, SEEK_END) : 0;
    bytes header = { NULL, end < HEADER_MOST ? (size_t)(end > 0 ? end : 0) : HEADER_MOST, 0 };
    bn_netcdf *n = descriptor >= 0 ? bn_netcdf_create(descriptor) : NULL;
    header.data = malloc(header.size + 1);
    if (n && header.data) {
        n->own = true;
        if (read_all(descriptor, header.data, header.size, 0))
            read_header(n, &header);
        else
            fail(n, EIO);
    }
    free(header.data);
    if (descriptor >= 0 && !n)
        close(descriptor);
    if (n && (!header.data || n->error))
        bn_netcdf_close(&n);
    return n;
}
