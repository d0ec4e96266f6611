/* cli_version.c: `binnacle --version`, and the files beside a program that was copied to another machine. */
#include "cli/commands.h"

#include <cairo.h>
#include <expat.h>
#include <geos_c.h>
#include <hdf5.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>
#include <unistd.h>
#include <zlib.h>

#ifndef BN_LIBRARIES
#error "the build passes -DBN_LIBRARIES, the versions that pkg-config tells"
#endif

void bn_cli_version(void)
{
    char library[4096];
    unsigned major = 0, minor = 0, release = 0;
    const char *tiff = strpbrk(TIFFGetVersion(), "0123456789"), *expat = strpbrk(XML_ExpatVersion(), "0123456789");
    printf("binnacle %s\n", bn_version());
    printf("with MPI: %s\n", bn_context_library(library, sizeof library) ? library : "no");
#if defined(__clang__)
    printf("compiled by clang %s\n", __clang_version__);
#elif defined(__GNUC__)
    printf("compiled by gcc %s\n", __VERSION__);
#endif
    printf("compiled with %s\n", BN_LIBRARIES);
    printf("runs with cairo %s, jansson %s, zlib %s, libpng %s", cairo_version_string(), jansson_version_str(),
           zlibVersion(), png_get_libpng_ver(NULL));
    if (H5get_libversion(&major, &minor, &release) >= 0)
        printf(", HDF5 %u.%u.%u", major, minor, release);
    printf(", libtiff %.*s, expat %s, GEOS %s, OpenSSL %s\n", tiff ? (int)strcspn(tiff, "\n") : 1, tiff ? tiff : "?",
           expat ? expat : "?", GEOSversion(), OpenSSL_version(OPENSSL_VERSION_STRING));
}

/* Sets the variable `name` to the path of `file` in the folder of the program's own data, unless the user has set it.
 */
static void name_own(const char *name, const char *data, const char *file)
{
    char path[4400];
    snprintf(path, sizeof path, "%s%s", data, file);
    if (!getenv(name) && access(path, R_OK) == 0 && setenv(name, path, 1) != 0)
        fprintf(stderr, "binnacle: warning: no memory to use %s\n", path);
}

void bn_cli_use_own_files(void)
{
    char data[4200];
    const ssize_t length = readlink("/proc/self/exe", data, 4096);
    data[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(data, '/');
    if (!slash)
        return;
    snprintf(slash, sizeof data - (size_t)(slash - data), "/../share/binnacle/");
    name_own("UDUNITS2_XML_PATH", data, "udunits/udunits2.xml");
    name_own("FONTCONFIG_FILE", data, "fonts/fonts.conf");
}
