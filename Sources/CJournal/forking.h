#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

// A lock of flock(2) belongs to an open file, and so does a mapping: a child of fork(2) that does not become another program would keep the locks of a
// parent that has died, for as long as it runs. So a child lets go of them at once. What does that runs right after fork(2), where no lock may be taken
// and nothing allocated.
//
// What `waybill_files` has must be there once in a process: only DurableFile.swift uses what is in this file.

enum { waybill_file_count = 256 };

struct waybill_file {
    int state;      // 0: free, 1: an entry is being made, 2: an open file
    int descriptor;
    void *memory;   // NULL: it is not mapped
    size_t length;
};

static inline struct waybill_file *waybill_files(void) {
    static struct waybill_file all[waybill_file_count]; // in a function, because Swift's importer makes nothing of a variable of a header
    return all;
}

static inline void waybill_let_go_of_files(void) {
    // Something that is open and leads nowhere; not /dev/null, because fcntl.h declares what is Swift's C library's.
    int ends[2];
    int nothing = pipe(ends) == 0 ? ends[0] : -1;
    for (int i = 0; i < waybill_file_count; i++) {
        struct waybill_file *file = &waybill_files()[i];
        if (__atomic_load_n(&file->state, __ATOMIC_SEQ_CST) != 2) continue;
        // The words stay readable, as memory of the child's own: what still points to them does no harm.
        if (file->memory != NULL)
            mmap(file->memory, file->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0);
        // The number stays taken, so that nobody who still has it reaches another file.
        if (nothing < 0 || dup2(nothing, file->descriptor) < 0) close(file->descriptor);
        else ioctl(file->descriptor, FIOCLEX);
        __atomic_store_n(&file->state, 0, __ATOMIC_SEQ_CST);
    }
    if (nothing >= 0) {
        close(ends[0]);
        close(ends[1]);
    }
}

static inline void waybill_watch_forks(void) { pthread_atfork(NULL, NULL, waybill_let_go_of_files); }

/// Has a child let go of an open file; -1 where there are too many already.
static inline int waybill_add_file(int descriptor, void *memory, size_t length) {
    for (int i = 0; i < waybill_file_count; i++) {
        struct waybill_file *file = &waybill_files()[i];
        int is_free = 0;
        if (!__atomic_compare_exchange_n(&file->state, &is_free, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) continue;
        file->descriptor = descriptor;
        file->memory = memory;
        file->length = length;
        __atomic_store_n(&file->state, 2, __ATOMIC_SEQ_CST);
        return i;
    }
    return -1;
}

/// To be called before the file is closed.
static inline void waybill_remove_file(int index) {
    if (index >= 0) __atomic_store_n(&waybill_files()[index].state, 0, __ATOMIC_SEQ_CST);
}
