#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

// flock(2) locks and mappings belong to an open file, which a child of fork(2) shares. Without this, a child that does
// not exec would hold the locks after its parent died. The child releases them right after fork(2), where it may
// neither lock nor allocate. Only DurableFile.swift may use this file, because `waybill_files` must exist once in a
// process.

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
    // A pipe serves as the dummy file: fcntl.h, which /dev/null needs, conflicts with Swift's C library.
    int ends[2];
    int nothing = pipe(ends) == 0 ? ends[0] : -1;
    for (int i = 0; i < waybill_file_count; i++) {
        struct waybill_file *file = &waybill_files()[i];
        if (__atomic_load_n(&file->state, __ATOMIC_SEQ_CST) != 2) continue;
        // Pointers to the words stay valid: they now point to private memory of the child.
        if (file->memory != NULL)
            mmap(file->memory, file->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0);
        // The descriptor stays taken; a thread that still holds the number cannot reach another file.
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

/// Registers an open file for release in a child; returns -1 if the table is full.
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

/// Call this before you close the file.
static inline void waybill_remove_file(int index) {
    if (index >= 0) __atomic_store_n(&waybill_files()[index].state, 0, __ATOMIC_SEQ_CST);
}
