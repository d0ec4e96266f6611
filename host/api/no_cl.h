/* no_cl.h: put before every file of src/ by the build. Nothing above host/ may name OpenCL or MPI: gcc and clang then
 * refuse the headers themselves, whichever way they came in. */
#ifndef BN_API_NO_CL_H
#define BN_API_NO_CL_H

#if defined(__GNUC__)
#pragma GCC poison cl_mem cl_kernel cl_command_queue cl_context cl_program cl_event cl_device_id MPI_Comm
#endif

#endif
