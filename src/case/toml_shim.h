/* toml_shim.h: toml++ for C. A text becomes a tree of plain structs; numbers become text and back, whatever the locale
 * of the process. No C++ exception leaves it. */
#ifndef BN_TOML_SHIM_H
#define BN_TOML_SHIM_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BN_TOML_LEVELS = 5,        /* tables below this depth are left out: no key of a case lies deeper than three */
    BN_TOML_ITEMS = 257,       /* tables of an array beyond this many are counted, but left out */
    BN_TOML_ELEMENTS = 8,      /* elements of an array beyond this many are counted, but left out */
    BN_TOML_DOTS = 64,         /* most dots in a line: toml++ recurses into dotted keys without limit */
    BN_TOML_NUMBER_BYTES = 32, /* room for any double as text */
    BN_TOML_MESSAGE_BYTES = 256
};

typedef enum bn_toml_type {
    BN_TOML_TABLE,
    BN_TOML_ARRAY,
    BN_TOML_TEXT,
    BN_TOML_INT,
    BN_TOML_REAL,
    BN_TOML_BOOL,
    BN_TOML_DATE
} bn_toml_type;

/* Where something stands: line and column count from 1, columns and width in characters. Line 0: nowhere. */
typedef struct bn_toml_place {
    size_t line, column;
    size_t width; /* 0: more than one line */
} bn_toml_place;

typedef struct bn_toml {
    bn_toml_type type;
    char *name; /* key; NULL for the root and for elements of arrays */
    bool bare;  /* the name has only letters, digits, _ and -, as all names that we know */
    bn_toml_place key, value;
    char *text; /* of a text, with a 0 after its bytes */
    size_t bytes;
    long long integer;
    double real;
    bool boolean;
    size_t count;          /* elements of an array, also those left out */
    struct bn_toml *child; /* first entry of a table in the order of the text, or first element of an array */
    struct bn_toml *next;
} bn_toml;

typedef enum bn_toml_status { BN_TOML_OK, BN_TOML_SYNTAX, BN_TOML_NO_MEMORY } bn_toml_status;

typedef struct bn_toml_error {
    bn_toml_place place;
    char message[BN_TOML_MESSAGE_BYTES];
} bn_toml_error;

/* Parses `text`; on BN_TOML_SYNTAX `error` has message and place. The tree is freed with bn_toml_free. */
bn_toml_status bn_toml_parse(const char *text, size_t bytes, bn_toml **root, bn_toml_error *error);
void bn_toml_free(bn_toml **root);

/* The shortest digits that read back as the same bits. */
void bn_toml_format(double value, char text[BN_TOML_NUMBER_BYTES]);

/* Reads a decimal number that is the whole text; false when it is none or too large. */
bool bn_toml_number(const char *text, double *value);

#ifdef __cplusplus
}
#endif
#endif
