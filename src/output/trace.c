/* trace.c: a timeline of kernels and transfers in the trace event format of Chrome, which its tracing page and Perfetto
 * show: microseconds, a process for each device, one row for its kernels and one for its transfers. */
#include "output/trace.h"

#include "api/device.h"
#include "case/string_buffer.h"
#include "io/file.h"

#include <math.h>

static const char *separator(size_t *written) { return (*written)++ > 0 ? ",\n" : ""; }

static void add_device(bn_string *b, size_t device, const bn_device_event *events, size_t count, size_t *written)
{
    static const char *const rows[] = { "kernels", "transfers" };
    double first = HUGE_VAL; /* devices have clocks of their own */
    for (size_t i = 0; i < count; i++)
        first = fmin(first, events[i].start);
    for (size_t r = 0; r < 2; r++)
        bn_string_add(b, "%s{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%zu,\"tid\":%zu,\"args\":{\"name\":\"%s\"}}",
                      separator(written), device, r, rows[r]);
    for (size_t i = 0; i < count; i++) {
        bn_string_add(b, "%s{\"name\":\"%s\",\"ph\":\"X\",\"pid\":%zu,\"tid\":%d,\"ts\":", separator(written),
                      events[i].what, device, events[i].transfer);
        bn_string_add_real(b, 1e6 * (events[i].start - first));
        bn_string_add(b, ",\"dur\":");
        bn_string_add_real(b, 1e6 * (events[i].end - events[i].start));
        bn_string_add(b, "}");
    }
}

bn_status bn_trace_write(bn_context *ctx, bn_device *device, bn_output_dir *folder)
{
    bn_string b = { 0 };
    size_t written = 0;
    bn_string_add(&b, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    for (size_t d = 0; d < bn_device_local_count(device); d++) {
        size_t count;
        const bn_device_event *events = bn_device_events(device, d, &count);
        add_device(&b, d, events, count, &written);
    }
    bn_string_add(&b, "\n]}\n");
    bn_status st = b.failed
                       ? bn_fail(ctx, BN_MEMORY, "no memory for trace.json")
                       : bn_file_write(ctx, bn_output_dir_name(folder, "trace.json").text, bn_string_text(&b), b.bytes);
    bn_string_clear(&b);
    return st;
}
