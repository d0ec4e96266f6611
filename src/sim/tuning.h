/* tuning.h: the tuning database: the work-group shapes that `binnacle tune` has found, for later runs. */
#ifndef BN_TUNING_H
#define BN_TUNING_H

#include "binnacle/device.h"

/* What an entry holds for: the same on another driver, in another precision, or at another size is another question. */
typedef struct bn_tuning_key {
    const char *solver, *precision; /* "single", "double" */
    const bn_device_info *device;   /* by name and driver */
    int size_class;
} bn_tuning_key;

enum { BN_TUNING_CHOICES = 8, BN_TUNING_TEXT = 64 };

/* The value of a case's key that was the fastest. */
typedef struct bn_tuning_choice {
    char key[BN_TUNING_TEXT], value[BN_TUNING_TEXT];
} bn_tuning_choice;

/* Shapes by kernel; own memory. */
typedef struct bn_tuning {
    bn_kernel_group *groups;
    size_t count;
    bn_tuning_choice choices[BN_TUNING_CHOICES];
    size_t choice_count;
    bool own; /* the user's database has a part in it; else it is what ships with the program */
} bn_tuning;

/* What was found to be the fastest: a work-group of a kernel, or a value of a key of the case. */
typedef struct bn_tuning_entry {
    const char *name, *value; /* of the kernel or the key; value NULL: a kernel */
    size_t shape[3];
    double seconds, default_seconds; /* of a launch; with a value of a step */
} bn_tuning_entry;

/* Sizes within a factor of two share their entries: floor(log2(points)). */
int bn_tuning_size_class(double points);

BN_CHECKED bn_status bn_tuning_copy(bn_context *, const bn_kernel_group *, size_t count, bn_tuning *out);
void bn_tuning_release(bn_tuning *);

/* The entries for the key: those that ship with the program (data/tuning), which hold for any driver of their device,
 * and the user's, which go before them. Never fails: a file or entry that can't be used is ignored with a warning. */
void bn_tuning_load(bn_context *, const bn_tuning_key *, bn_tuning *out);

/* Puts the entries into the database: kernels in the place of those with the same key and name, values in the place of
 * all with the same key. A database that can't be read is kept beside it as tuning.json.bad. */
BN_CHECKED bn_status bn_tuning_store(bn_context *, const bn_tuning_key *, const bn_tuning_entry *, size_t count);

#endif
