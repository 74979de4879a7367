#include "recording_disk.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

// Atomic: it is set while other threads sync files of theirs.
static _Atomic(waybill_disk_listener) listener;

// MARK: Syncs, by whoever calls them: SQLite for its files and their folder, Waybill for its own

#ifdef __linux__
// The executable's functions come before those of the C library, also for SQLite.

static bool is_recorded(int descriptor) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return false;
    path[length] = 0;
    return listener(waybill_disk_synced, path, 0, NULL, 0);
}

int fsync(int descriptor) {
    if (listener != NULL && is_recorded(descriptor)) return 0;
    return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
    if (listener != NULL && is_recorded(descriptor)) return 0;
    return (int)syscall(SYS_fdatasync, descriptor);
}
#endif

// MARK: What SQLite writes: sqlite.org/vfs.html, a shim over the default VFS

static sqlite3_vfs *base;
static sqlite3_vfs recording;

/// A recorded file; behind it lies the file of the default VFS.
typedef struct {
    sqlite3_file file;
    const char *path; // SQLite keeps it until the file is closed
} recorded_file;

static const char *path_of(sqlite3_file *file) { return ((recorded_file *)file)->path; }
static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((recorded_file *)file + 1); }
static const sqlite3_io_methods *methods(sqlite3_file *file) { return real(file)->pMethods; }

static int disk_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    int code = methods(file)->xWrite(real(file), bytes, count, offset);
    if (code == SQLITE_OK) listener(waybill_disk_written, path_of(file), offset, bytes, count);
    return code;
}

static int disk_truncate(sqlite3_file *file, sqlite3_int64 size) {
    int code = methods(file)->xTruncate(real(file), size);
    if (code == SQLITE_OK) listener(waybill_disk_truncated, path_of(file), 0, NULL, size);
    return code;
}

static int disk_close(sqlite3_file *file) { return methods(file)->xClose(real(file)); }
static int disk_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return methods(file)->xRead(real(file), bytes, count, offset);
}
static int disk_sync(sqlite3_file *file, int flags) { return methods(file)->xSync(real(file), flags); }
static int disk_size(sqlite3_file *file, sqlite3_int64 *size) { return methods(file)->xFileSize(real(file), size); }
static int disk_lock(sqlite3_file *file, int level) { return methods(file)->xLock(real(file), level); }
static int disk_unlock(sqlite3_file *file, int level) { return methods(file)->xUnlock(real(file), level); }
static int disk_check_lock(sqlite3_file *file, int *result) { return methods(file)->xCheckReservedLock(real(file), result); }
static int disk_control(sqlite3_file *file, int operation, void *argument) {
    return methods(file)->xFileControl(real(file), operation, argument);
}
static int disk_sector_size(sqlite3_file *file) { return methods(file)->xSectorSize(real(file)); }
static int disk_characteristics(sqlite3_file *file) { return methods(file)->xDeviceCharacteristics(real(file)); }
// Shared memory is no file to SQLite's promises: it is lost with the power, and made again.
static int disk_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **memory) {
    return methods(file)->xShmMap(real(file), page, size, extend, memory);
}
static int disk_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return methods(file)->xShmLock(real(file), offset, count, flags);
}
static void disk_shm_barrier(sqlite3_file *file) { methods(file)->xShmBarrier(real(file)); }
static int disk_shm_unmap(sqlite3_file *file, int remove) { return methods(file)->xShmUnmap(real(file), remove); }

/// Version 2: without memory-mapped reading, so that every write of the database comes by.
static const sqlite3_io_methods recorded_methods = {
    2, disk_close, disk_read, disk_write, disk_truncate, disk_sync, disk_size, disk_lock, disk_unlock, disk_check_lock, disk_control,
    disk_sector_size, disk_characteristics, disk_shm_map, disk_shm_lock, disk_shm_barrier, disk_shm_unmap, NULL, NULL,
};

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out_flags) {
    (void)vfs;
    // A file that is not recorded is the default VFS's own.
    if (path == NULL || !listener(waybill_disk_opening, path, 0, NULL, 0)) return base->xOpen(base, path, file, flags, out_flags);
    ((recorded_file *)file)->path = path;
    file->pMethods = NULL;
    memset(real(file), 0, (size_t)base->szOsFile);
    int code = base->xOpen(base, path, real(file), flags, out_flags);
    if (code == SQLITE_OK) {
        file->pMethods = &recorded_methods;
        listener(waybill_disk_opened, path, 0, NULL, 0);
    }
    return code;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync_folder) {
    (void)vfs;
    int code = base->xDelete(base, path, 0);
    if (code != SQLITE_OK) return code;
    listener(waybill_disk_deleted, path, 0, NULL, 0);
    if (!sync_folder) return code;
    // Here, so that the deletion is told of before the sync that makes it stay.
    const char *end = strrchr(path, '/');
    char *folder = end == NULL ? NULL : strndup(path, (size_t)(end - path));
    if (folder == NULL) return SQLITE_NOMEM;
    listener(waybill_disk_synced, folder, 0, NULL, 0);
    free(folder);
    return code;
}

int waybill_disk_install(waybill_disk_listener new_listener) {
    base = sqlite3_vfs_find(NULL);
    if (base == NULL) return SQLITE_ERROR;
    listener = new_listener;
    recording = *base;
    recording.pNext = NULL;
    recording.zName = "recording";
    recording.szOsFile = (int)sizeof(recorded_file) + base->szOsFile;
    recording.xOpen = disk_open;
    recording.xDelete = disk_delete;
    return sqlite3_vfs_register(&recording, 1);
}
