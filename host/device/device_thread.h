/* device_thread.h: a host thread for each of several devices that work together in contexts of their own. The caller
 * lists calls of OpenCL in the order in which they shall be made; the thread of the device makes them. Events of one
 * context mean nothing in another: threads wait for each other here. Other devices have no thread (device_open.c says
 * which): their calls are made at once. */
#ifndef BN_HOST_DEVICE_THREAD_H
#define BN_HOST_DEVICE_THREAD_H

#include "device/opencl.h"

#include <stdatomic.h>

/* Makes a call with a copy of its arguments. Gives its status, and the function's name in *call where it fails. */
typedef cl_int bn_call(bn_device *, const void *arguments, const char **call);
enum { BN_CALL_BYTES = 232 };

/* Starts the threads of a group. Not of devices that share a context, are profiled, or must not be called from two
 * threads. */
BN_CHECKED bn_status bn_threads_start(bn_device *first);
/* Ends the thread of a device; what is listed and not made is left out. */
void bn_thread_end(bn_device *);

/* Lists a call; fails if one of the group has failed before, whatever that one is. `what`: what is being done; stays
 * until the call is made. `soon`: another one follows at once, and the thread need not be woken for this one. */
BN_CHECKED bn_status bn_call_list(bn_device *d, const char *what, bn_call *call, const void *arguments, size_t bytes,
                                  bool soon);
/* Waits until all listed calls are made. */
BN_CHECKED bn_status bn_calls_made(const bn_device *);
/* The same in functions without a status: a failure becomes the error of the context, and is given by the next call
 * that is listed or waited for.
 */
void bn_calls_settle(const bn_device *);
/* The queue, for a call that the caller makes itself: settled before. */
cl_command_queue bn_queue(const bn_device *);

/* Waits, before a launch is listed, while more launches than the limit of the queue allows are listed and not made. */
void bn_thread_limit(bn_device *);
/* For the call of a launch, when it is made: so many may be listed from now on. */
void bn_thread_launched(bn_device *, unsigned most);

/* For calls: a number that another device's thread waits for has reached `value`; and that wait. It also ends when a
 * device has failed. */
void bn_thread_post(const bn_device *waits, _Atomic unsigned long *number, unsigned long value);
void bn_thread_await(const bn_device *me, const _Atomic unsigned long *number, unsigned long value);

/* All devices of the group have made everything that was listed before, and their queues, or those of `outgoing`
 * messages alone, have done it, before any makes what is listed after. False: they have no threads, and nothing was
 * done. */
BN_CHECKED bn_status bn_threads_meet(bn_device *first, bool outgoing, const char *what, bool *met);

#endif
