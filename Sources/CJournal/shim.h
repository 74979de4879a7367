#include <stddef.h>
#include <stdint.h>

#ifdef __linux__
#include <sys/mman.h>
#include <sys/vfs.h>

/// What kind of file system a file lies on (linux/magic.h); 0 where that cannot be told.
static inline uint32_t waybill_file_system(int descriptor) {
    struct statfs about;
    return fstatfs(descriptor, &about) == 0 ? (uint32_t)about.f_type : 0;
}

/// Makes pages writable that are there, without writing to them (MADV_POPULATE_WRITE, madvise(2)); does nothing before Linux 5.14.
static inline void waybill_make_writable(void *start, size_t length) { madvise(start, length, 23); }
#endif
