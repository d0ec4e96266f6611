/* buffer.c: device memory. In debug contexts each buffer is painted with NaN and has a canary behind it, so that a
 * kernel that reads or writes where it should not shows as a number. */
#include "device/buffer.h"

#include "device/device_thread.h"

#include <stdlib.h>
#include <string.h>

static const cl_uint canary = 0xA5A5A5A5u;

/* A quiet NaN as float, as double (two words: NaN) and a conspicuous integer. */
static const cl_uint paint = 0x7fc0beefu;

/* In pieces, those behind the first as buffers of their own: NVIDIA's fill of 2 GiB or more hangs, or ends with
 * CL_OUT_OF_RESOURCES at a later call, and it does not reach offsets beyond either. */
bn_status bn_buffer_fill(bn_buffer *b, cl_uint word, size_t start, size_t bytes)
{
    const size_t pattern = (start | bytes) % sizeof word ? 1 : sizeof word, end = start + bytes;
    for (size_t at = start, next; at < end; at = next) {
        const size_t origin = at / BN_FILL_BYTES * BN_FILL_BYTES;
        next = end - origin < BN_FILL_BYTES ? end : origin + BN_FILL_BYTES;
        cl_int status = CL_SUCCESS;
        cl_mem piece = b->mem;
        if (origin > 0)
            piece = clCreateSubBuffer(b->mem, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                      &(cl_buffer_region){ origin, next - origin }, &status);
        if (status != CL_SUCCESS)
            return bn_cl_fail(b->device, status, "clCreateSubBuffer", b->name);
        status = clEnqueueFillBuffer(bn_queue(b->device), piece, &word, pattern, at - origin, next - at, 0, NULL, NULL);
        if (origin > 0)
            clReleaseMemObject(piece);
        if (status != CL_SUCCESS)
            return bn_cl_fail(b->device, status, "clEnqueueFillBuffer", b->name);
    }
    return BN_OK;
}

static bn_status fill_new(bn_buffer *b)
{
    const bool debug = bn_context_debug(b->device->ctx);
    BN_TRY(bn_buffer_fill(b, debug ? paint : 0, 0, b->bytes / 4 * 4));
    return debug ? bn_buffer_fill(b, canary, (b->bytes + 3) / 4 * 4, BN_CANARY_BYTES) : BN_OK;
}

bn_status bn_buffer_create(bn_device *device, bn_buffer **list, const char *name, size_t bytes, bn_buffer **out)
{
    *out = NULL;
    const bn_device_info *info = &device->info;
    size_t total;
    if (bytes == 0 || __builtin_add_overflow((bytes + 3) / 4 * 4,
                                             bn_context_debug(device->ctx) ? (size_t)BN_CANARY_BYTES : 0, &total))
        return bn_fail(device->ctx, BN_MEMORY, "%s: a buffer of %zu bytes is not possible", name, bytes);
    if (total > info->largest_buffer)
        return bn_fail(device->ctx, BN_MEMORY,
                       "%s needs a buffer of %.2f GiB, but the largest that %s gives is %.2f GiB; use a smaller grid, "
                       "single precision, or more boxes",
                       name, (double)total / 0x1p30, info->name, (double)info->largest_buffer / 0x1p30);
    bn_status st = BN_OK;
    bn_buffer *b = calloc(1, sizeof *b);
    if (!b || !(b->name = strdup(name)))
        BN_GO(bn_fail(device->ctx, BN_MEMORY, "no memory for the description of %s", name));
    b->bytes = bytes;
    b->device = device;
    cl_int status;
    b->mem = clCreateBuffer(device->cl, CL_MEM_READ_WRITE, total, NULL, &status);
    if (status != CL_SUCCESS) {
        b->mem = NULL;
        st = bn_cl_fail(device, status, "clCreateBuffer", name);
        bn_note(device->ctx, "while allocating %.1f MiB for %s", (double)total / 0x1p20, name);
        goto out;
    }
    BN_GO(fill_new(b));
    b->list = list;
    b->next = *list;
    if (b->next)
        b->next->previous = b;
    *list = b;
    *out = b;
    return BN_OK;
out:
    if (b) {
        if (b->mem)
            clReleaseMemObject(b->mem);
        free(b->name);
        free(b);
    }
    return st;
}

bn_status bn_buffer_image(bn_buffer *b, bn_precision precision)
{
    if (b->image)
        return BN_OK;
    const bool pairs = precision == BN_DOUBLE; /* no image format has doubles: four words are two of them */
    const size_t pixels = b->bytes / (pairs ? 16 : 4);
    cl_bool images = CL_FALSE;
    size_t most = 0;
    BN_CL(b->device, b->name, clGetDeviceInfo, b->device->id, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL);
    if (images)
        BN_CL(b->device, b->name, clGetDeviceInfo, b->device->id, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, sizeof most, &most,
              NULL);
    if (pixels > most)
        return bn_fail(b->device->ctx, BN_DEVICE, "%s as an image has %zu pixels, %s allows %zu", b->name, pixels,
                       b->device->info.name, most);
    const cl_image_format format = { pairs ? CL_RGBA : CL_R, pairs ? CL_UNSIGNED_INT32 : CL_FLOAT };
    const cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = pixels, .buffer = b->mem };
    cl_int status;
    b->image = clCreateImage(b->device->cl, CL_MEM_READ_ONLY, &format, &desc, NULL, &status);
    if (status != CL_SUCCESS) {
        b->image = NULL;
        return bn_cl_fail(b->device, status, "clCreateImage", b->name);
    }
    return BN_OK;
}

void bn_buffer_destroy(bn_buffer **buffer)
{
    if (!buffer || !*buffer)
        return;
    bn_buffer *b = *buffer;
    bn_calls_settle(b->device);
    if (b->previous)
        b->previous->next = b->next;
    else
        *b->list = b->next;
    if (b->next)
        b->next->previous = b->previous;
    if (b->image)
        clReleaseMemObject(b->image);
    cl_int status = clReleaseMemObject(b->mem);
    if (status != CL_SUCCESS)
        bn_log(b->device->ctx, BN_LOG_WARNING, "clReleaseMemObject(%s): %s", b->name, bn_cl_name(status));
    free(b->name);
    free(b);
    *buffer = NULL;
}

bn_status bn_buffers_check(bn_buffer *list)
{
    for (bn_buffer *b = list; b && bn_context_debug(b->device->ctx); b = b->next) {
        cl_uint seen[BN_CANARY_BYTES / 4];
        BN_CL(b->device, b->name, clEnqueueReadBuffer, bn_queue(b->device), b->mem, CL_TRUE, (b->bytes + 3) / 4 * 4,
              sizeof seen, seen, 0, NULL, NULL);
        for (size_t i = 0; i < BN_CANARY_BYTES / 4; i++)
            if (seen[i] != canary)
                return bn_fail(b->device->ctx, BN_MISMATCH,
                               "a kernel wrote behind the end of %s (%zu bytes past it, on %s)", b->name, 4 * i,
                               b->device->info.name);
    }
    return BN_OK;
}

void bn_pinned_free(bn_pinned *p)
{
    if (p->data)
        clEnqueueUnmapMemObject(p->device->queue, p->mem, p->data, 0, NULL, NULL);
    if (p->mem)
        clReleaseMemObject(p->mem);
    *p = (bn_pinned){ 0 };
}

bn_status bn_pinned_need(bn_device *device, bn_pinned *p, size_t bytes)
{
    if (p->bytes >= bytes)
        return BN_OK;
    bn_pinned_free(p);
    cl_int status;
    p->device = device;
    p->mem = clCreateBuffer(device->cl, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &status);
    if (status != CL_SUCCESS)
        p->mem = NULL;
    else
        p->data = clEnqueueMapBuffer(bn_queue(device), p->mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL,
                                     NULL, &status);
    if (status != CL_SUCCESS) {
        const char *call = p->mem ? "clEnqueueMapBuffer" : "clCreateBuffer";
        p->data = NULL;
        bn_pinned_free(p);
        bn_cl_fail(device, status, call, "pinned host memory");
        bn_note(device->ctx, "while allocating %.1f MiB of pinned host memory", (double)bytes / 0x1p20);
        return bn_error_status(device->ctx);
    }
    p->bytes = bytes;
    return BN_OK;
}
