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

// Words in mapped memory that several threads, or the next process, read. Swift's own atomics live in objects only.

static inline uint64_t waybill_load_acquire(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

static inline void waybill_store_release(uint64_t *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
