/* flood_folder.h: a folder for the plans that a test of flood writes, with the context that its cases are read in: a
 * fixture.
 */
#ifndef BN_TEST_FLOOD_FOLDER_H
#define BN_TEST_FLOOD_FOLDER_H

#include "support_case.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];

static void open_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/bn-flood-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    open_context();
}

static void remove_folder(void)
{
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)unlink(path); /* which leaves . and .. alone */
    }
    if (dir)
        (void)closedir(dir);
    (void)rmdir(folder);
    close_context();
}

#endif
