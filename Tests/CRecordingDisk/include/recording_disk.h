#ifndef RECORDING_DISK_H
#define RECORDING_DISK_H

#include <stdbool.h>
#include <stdint.h>

/// What happened to a file.
enum waybill_disk_event {
    /// About to be opened, and perhaps made.
    waybill_disk_opening,
    waybill_disk_opened,
    waybill_disk_written,
    waybill_disk_truncated,
    waybill_disk_deleted,
    /// Also a folder, whose names are on the disk from then on.
    waybill_disk_synced,
};

/// Told of each event, on the thread that caused it; of all but `opening` once it has happened.
///
/// @param count of `bytes`, or the new size of a truncated file
/// @return whether the file is recorded; if not, it is told of again only when it is deleted or synced
typedef bool (*waybill_disk_listener)(
    enum waybill_disk_event event, const char *path, int64_t offset, const uint8_t *bytes, int64_t count);

/// Makes a recording VFS SQLite's default, and tells of every `fsync` and `fdatasync` of this process; a recorded file is not really synced.
///
/// To be called once, before any connection is opened.
///
/// @return SQLite's code
int waybill_disk_install(waybill_disk_listener listener);

#endif
