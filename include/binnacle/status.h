/* status.h: every outcome of a call, its exit code and its text, in one list (style: one X-macro). */
#ifndef BINNACLE_STATUS_H
#define BINNACLE_STATUS_H

/* Between these two the functions of the interface are declared: C names, and exported by the shared library, which
 * exports nothing else. */
/* clang-format off */
#if defined(__GNUC__)
#define BN_VISIBILITY_(text_) _Pragma(text_)
#else
#define BN_VISIBILITY_(text_)
#endif
#ifdef __cplusplus
#define BN_INTERFACE_BEGIN BN_VISIBILITY_("GCC visibility push(default)") extern "C" {
#define BN_INTERFACE_END } BN_VISIBILITY_("GCC visibility pop")
#else
#define BN_INTERFACE_BEGIN BN_VISIBILITY_("GCC visibility push(default)")
#define BN_INTERFACE_END BN_VISIBILITY_("GCC visibility pop")
#endif
/* clang-format on */

BN_INTERFACE_BEGIN

/* X(name, exit code of the program, text) */
#define BN_STATUS_LIST(X)                              \
    X(OK, 0, "success")                                \
    X(USAGE, 1, "wrong command line")                  \
    X(CASE, 2, "case file rejected")                   \
    X(DEVICE, 3, "device or kernel build failed")      \
    X(MEMORY, 3, "out of memory")                      \
    X(DIVERGED, 4, "diverged or not converged")        \
    X(MISMATCH, 5, "verification or self-test failed") \
    X(IO, 6, "input or output failed")                 \
    X(INTERRUPTED, 130, "interrupted")                 \
    X(TERMINATED, 143, "terminated")

#define BN_ENUM(name, code, text) BN_##name,
typedef enum bn_status { BN_STATUS_LIST(BN_ENUM) BN_STATUS_COUNT } bn_status;
#undef BN_ENUM

/* A returned status must be looked at; gcc and clang warn when it is dropped. */
#if defined(__GNUC__)
#define BN_CHECKED __attribute__((warn_unused_result))
#define BN_PRINTF(text_, first_) __attribute__((format(printf, text_, first_)))
#else
#define BN_CHECKED
#define BN_PRINTF(text_, first_)
#endif

#define BN_TRY(call)                \
    do {                            \
        bn_status bn_try_ = (call); \
        if (bn_try_ != BN_OK)       \
            return bn_try_;         \
    } while (0)

/* For functions with one exit label: `bn_status st = BN_OK; ... BN_GO(call); ... out: release; return st;` */
#define BN_GO(call)                 \
    do {                            \
        if ((st = (call)) != BN_OK) \
            goto out;               \
    } while (0)

/* The process exit code that stands for a status (documented in the manual: 0, 1, 2, 3, 4, 5, 6, 130, 143). */
int bn_exit_code(bn_status status);

/* A short English text for a status; never NULL, static storage. */
const char *bn_status_text(bn_status status);

BN_INTERFACE_END
#endif
