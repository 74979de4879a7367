#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/// Runs `body` on a new thread; returns 0, or the error number if the system gives no thread.
static inline int waybill_start_thread(void *(*body)(void *), void *context) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, body, context);
    if (error == 0) pthread_detach(thread);
    return error;
}

#ifdef __linux__
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/// Returns the type of the file system that holds a file's pages (linux/magic.h), or 0 if it is unknown.
///
/// overlayfs, which containers use, maps the file below it and passes the file's flags through. FS_EXTENT_FL
/// (linux/fs.h) is a flag of ext4's files only.
static inline uint32_t waybill_file_system(int descriptor) {
    const uint32_t ext4 = 0xEF53, overlayfs = 0x794C7630;
    struct statfs about;
    if (fstatfs(descriptor, &about) != 0) return 0;
    uint32_t type = (uint32_t)about.f_type;
    int flags = 0;
    if (type == overlayfs && ioctl(descriptor, _IOR('f', 1, long), &flags) == 0 && flags & 0x80000) type = ext4;
    return type;
}

/// Makes the pages of a shared mapping present and writable without changing them (MADV_POPULATE_WRITE, madvise(2)).
///
/// Linux before 5.14 returns EINVAL; there, one word of each page is exchanged for itself. After other errors the file
/// system could not make a page writable, and a write would raise SIGBUS.
static inline void waybill_make_writable(void *start, size_t length) {
    if (madvise(start, length, 23) == 0 || errno != EINVAL) return;
    for (size_t at = 0; at < length; at += 4096) {
        uint64_t *word = (uint64_t *)((char *)start + at);
        uint64_t found = __atomic_load_n(word, __ATOMIC_RELAXED);
        __atomic_compare_exchange_n(word, &found, found, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
}

/// Replaces a shared mapping with a private copy in one step, while other threads go on writing.
///
/// Leaves the mapping unchanged if the file cannot be mapped, such as after a file system shutdown. MAP_FIXED would
/// leave a hole in that case, so the copy is made elsewhere and moved with mremap(2) (MAYMOVE and FIXED).
static inline void waybill_detach(void *start, size_t length, int descriptor) {
    void *copy = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0);
    if (copy == MAP_FAILED) return;
    if (syscall(SYS_mremap, copy, length, length, 1 | 2, start) == -1) munmap(copy, length);
}
#endif
