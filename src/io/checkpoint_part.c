/* checkpoint_part.c: HDF5 through its core driver, which keeps the file in memory. */
#include "io/checkpoint_part.h"

#include "io/file.h"
#include "io/volume.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

size_t bn_part_bytes(bn_part_type type)
{
    switch (type) {
    case BN_PART_F64:
    case BN_PART_I64: return 8;
    case BN_PART_U8: return 1;
    default: return 4;
    }
}

/* Little-endian on every machine. */
static hid_t file_type(bn_part_type type)
{
    switch (type) {
    case BN_PART_F32: return H5T_IEEE_F32LE;
    case BN_PART_F64: return H5T_IEEE_F64LE;
    case BN_PART_I32: return H5T_STD_I32LE;
    case BN_PART_I64: return H5T_STD_I64LE;
    default: return H5T_STD_U8LE;
    }
}

static hid_t memory_type(bn_part_type type)
{
    switch (type) {
    case BN_PART_F32: return H5T_NATIVE_FLOAT;
    case BN_PART_F64: return H5T_NATIVE_DOUBLE;
    case BN_PART_I32: return H5T_NATIVE_INT32;
    case BN_PART_I64: return H5T_NATIVE_INT64;
    default: return H5T_NATIVE_UINT8;
    }
}

static size_t block_bytes(const bn_part_block *b)
{
    size_t bytes = bn_part_bytes(b->type);
    for (int d = 0; d < BN_PART_DIMS; d++)
        bytes *= (size_t)b->n[d];
    return bytes;
}

static bool put_block(hid_t file, hid_t links, hid_t creation, const bn_part_block *b)
{
    hsize_t n[BN_PART_DIMS];
    for (int d = 0; d < BN_PART_DIMS; d++)
        n[d] = b->n[d];
    const hid_t space = H5Screate_simple(BN_PART_DIMS, n, NULL);
    const hid_t set = space < 0 ? -1
                                : H5Dcreate2(file, b->name, file_type(b->type), space, links, creation, H5P_DEFAULT);
    bool good = set >= 0 && H5Dwrite(set, memory_type(b->type), H5S_ALL, H5S_ALL, H5P_DEFAULT, b->values) >= 0;
    if (set >= 0)
        good = H5Dclose(set) >= 0 && good;
    if (space >= 0)
        H5Sclose(space);
    return good;
}

void bn_part_room_free(bn_part_room *room)
{
    free(room->data);
    *room = (bn_part_room){ NULL, 0 };
}

/* The core driver's memory is ours: the file can then be taken from where it was made. */
static void *room_resize(void *old, size_t bytes, H5FD_file_image_op_t why, void *user)
{
    bn_part_room *room = user;
    (void)old, (void)why;
    if (bytes > room->bytes) {
        void *data = realloc(room->data, bytes);
        if (!data)
            return NULL;
        room->data = data;
        room->bytes = bytes;
    }
    return room->data;
}

static void *room_make(size_t bytes, H5FD_file_image_op_t why, void *user)
{
    return room_resize(NULL, bytes, why, user);
}

static void *room_copy(void *to, const void *from, size_t bytes, H5FD_file_image_op_t why, void *user)
{
    (void)why, (void)user;
    return memmove(to, from, bytes);
}

static herr_t room_keep(void *data, H5FD_file_image_op_t why, void *user)
{
    (void)data, (void)why, (void)user;
    return 0;
}

static void *same_user(void *user) { return user; }

static herr_t keep_user(void *user)
{
    (void)user;
    return 0;
}

/* Properties of a file that grows in `room`, by `step` bytes at a time. */
static bool set_access(hid_t access, bn_part_room *room, size_t step)
{
    H5FD_file_image_callbacks_t calls = { .image_malloc = room_make,
                                          .image_memcpy = room_copy,
                                          .image_realloc = room_resize,
                                          .image_free = room_keep,
                                          .udata_copy = same_user,
                                          .udata_free = keep_user,
                                          .udata = room };
    return access >= 0 && H5Pset_fapl_core(access, step, 0) >= 0 && H5Pset_file_image_callbacks(access, &calls) >= 0;
}

/* Makes the file in `room`; its size, 0: no memory. */
static size_t make_image(const char *path, const bn_part_block *blocks, size_t count, bn_part_room *room)
{
    size_t sum = 1 << 16;
    for (size_t i = 0; i < count; i++)
        sum += block_bytes(&blocks[i]) + 1024;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), links = H5Pcreate(H5P_LINK_CREATE),
                creation = H5Pcreate(H5P_DATASET_CREATE);
    hid_t file = -1;
    ssize_t bytes = 0;
    /* Times of creation would make equal checkpoints differ. */
    if (set_access(access, room, sum) && links >= 0 && creation >= 0 &&
        H5Pset_create_intermediate_group(links, 1) >= 0 && H5Pset_obj_track_times(creation, 0) >= 0 &&
        H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER) >= 0)
        file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    bool good = file >= 0;
    for (size_t i = 0; good && i < count; i++)
        good = put_block(file, links, creation, &blocks[i]);
    if (good && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0)
        bytes = H5Fget_file_image(file, NULL, 0);
    if (file >= 0)
        H5Fclose(file);
    H5Pclose(creation);
    H5Pclose(links);
    H5Pclose(access);
    return bytes > 0 && (size_t)bytes <= room->bytes ? (size_t)bytes : 0;
}

bn_status bn_part_write(bn_context *ctx, const char *path, const bn_part_block *blocks, size_t count,
                        bn_part_room *room, bn_part_sum *out)
{
    bn_hdf5_begin();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const size_t bytes = make_image(path, blocks, count, room);
    bn_hdf5_end();
    if (bytes == 0)
        return bn_fail(ctx, BN_MEMORY, "no memory to make %s", path);
    out->bytes = bytes;
    BN_TRY(bn_sha256(ctx, room->data, bytes, out->sha256));
    return bn_file_write(ctx, path, room->data, bytes);
}

bn_status bn_part_check(bn_context *ctx, const char *path, const bn_part_sum *is)
{
    bn_part_sum found;
    BN_TRY(bn_sha256_file(ctx, path, &found.bytes, found.sha256));
    if (found.bytes != is->bytes)
        return bn_fail(ctx, BN_IO, "%s has %llu bytes instead of %llu: %s", path, found.bytes, is->bytes,
                       found.bytes < is->bytes ? "it is cut short" : "something was added to it");
    if (strcmp(found.sha256, is->sha256) != 0)
        return bn_fail(ctx, BN_IO, "%s is damaged: its SHA-256 is not the one it was written with", path);
    return BN_OK;
}

static bool get_box(hid_t file, const char *name, bn_part_type type, const bn_part_box *b, void *values)
{
    hsize_t from[BN_PART_DIMS], size[BN_PART_DIMS], room[BN_PART_DIMS], to[BN_PART_DIMS];
    for (int d = 0; d < BN_PART_DIMS; d++) {
        from[d] = b->from[d];
        size[d] = b->size[d];
        room[d] = b->room[d];
        to[d] = b->to[d];
    }
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    if (set < 0)
        return false;
    const hid_t own = H5Dget_type(set), here = H5Dget_space(set), there = H5Screate_simple(BN_PART_DIMS, room, NULL);
    const bool good = own >= 0 && here >= 0 && there >= 0 && H5Tequal(own, file_type(type)) > 0 &&
                      H5Sget_simple_extent_ndims(here) == BN_PART_DIMS &&
                      H5Sselect_hyperslab(here, H5S_SELECT_SET, from, NULL, size, NULL) >= 0 &&
                      H5Sselect_hyperslab(there, H5S_SELECT_SET, to, NULL, size, NULL) >= 0 &&
                      H5Dread(set, memory_type(type), there, here, H5P_DEFAULT, values) >= 0;
    H5Tclose(own);
    H5Sclose(here);
    H5Sclose(there);
    H5Dclose(set);
    return good;
}

bn_status bn_part_read(bn_context *ctx, const char *path, const char *name, bn_part_type type, const bn_part_box *box,
                       void *values)
{
    bn_hdf5_begin();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) {
        bn_hdf5_end();
        BN_TRY(bn_file_check(ctx, path)); /* HDF5 keeps the system's reason to itself */
        return bn_fail(ctx, BN_IO, "cannot read %s: HDF5 can't open it", path);
    }
    const bool good = get_box(file, name, type, box, values);
    H5Fclose(file); /* opened for reading: nothing can be lost here */
    bn_hdf5_end();
    return good ? BN_OK
                : bn_fail(ctx, BN_IO, "cannot read %s: HDF5 finds no dataset %s of that type, or can't read it", path,
                          name);
}
