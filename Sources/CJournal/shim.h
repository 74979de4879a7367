#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __linux__
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/// What kind of file system a file lies on (linux/magic.h); 0 where that cannot be told.
static inline uint32_t waybill_file_system(int descriptor) {
    struct statfs about;
    return fstatfs(descriptor, &about) == 0 ? (uint32_t)about.f_type : 0;
}

/// Makes the pages of a shared mapping present and writable without changing them (MADV_POPULATE_WRITE, madvise(2)).
///
/// Linux before 5.14 does not know that advice; there, one word of each page is exchanged for itself. Other errors change nothing: where the
/// file system cannot make a page writable, a write to it would raise SIGBUS.
static inline void waybill_make_writable(void *start, size_t length) {
    if (madvise(start, length, 23) == 0 || errno != EINVAL) return;
    for (size_t at = 0; at < length; at += 4096) {
        uint64_t *word = (uint64_t *)((char *)start + at);
        uint64_t found = __atomic_load_n(word, __ATOMIC_RELAXED);
        __atomic_compare_exchange_n(word, &found, found, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
}

/// Puts a copy of a file's pages in place of a shared mapping, in one step: other threads go on writing, to the copy.
///
/// Changes nothing if the file cannot be mapped, as after its file system was shut down. `mmap` with MAP_FIXED would leave a hole then, and the next write
/// would end the process, so the copy is made elsewhere first, and moved (mremap(2); its flags are MAYMOVE and FIXED).
static inline void waybill_detach(void *start, size_t length, int descriptor) {
    void *copy = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0);
    if (copy == MAP_FAILED) return;
    if (syscall(SYS_mremap, copy, length, length, 1 | 2, start) == -1) munmap(copy, length);
}
#endif
