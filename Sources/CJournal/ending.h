#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

// Each journal has a word that notes how the process ends. Signal handlers write it, which rules out locks, allocation
// and calls that signal-safety(7) does not list. Only JournalLayout.swift may use this file, because
// `waybill_endings` must exist once in a process.

/// The noted value: the number of a signal, or one of these.
enum { waybill_end_unwatched = 0, waybill_end_exit = 0x100, waybill_end_unseen = 0x200 };

enum { waybill_end_count = 16, waybill_signal_count = 32 };

struct waybill_end {
    uint64_t *word; // NULL: free
    uint64_t seal;  // the upper bits of the word
    off_t offset;
    int descriptor; // -1: the word gets into the file by itself
    pid_t process;  // a child after fork(2) notes nothing in its parent's journals
};

struct waybill_endings {
    struct waybill_end ends[waybill_end_count];
    /// The number of threads that are writing a note.
    int noting;
    /// The handlers that were installed before ours.
    struct sigaction before[waybill_signal_count];
    /// `word` points here while an entry is filled in.
    uint64_t being_made;
};

static inline struct waybill_endings *waybill_endings(void) {
    static struct waybill_endings all; // in a function, because Swift's importer makes nothing of a variable of a header
    return &all;
}

static inline void waybill_note(uint64_t value) {
    __atomic_add_fetch(&waybill_endings()->noting, 1, __ATOMIC_SEQ_CST);
    pid_t process = getpid();
    for (int i = 0; i < waybill_end_count; i++) {
        struct waybill_end *end = &waybill_endings()->ends[i];
        uint64_t *word = __atomic_load_n(&end->word, __ATOMIC_SEQ_CST);
        if (word == NULL || word == &waybill_endings()->being_made || end->process != process) continue;
        uint64_t noted = end->seal | value;
        __atomic_store_n(word, noted, __ATOMIC_RELEASE);
        if (end->descriptor >= 0) {
            ssize_t written = pwrite(end->descriptor, &noted, sizeof noted, end->offset);
            (void)written;
        }
    }
    __atomic_sub_fetch(&waybill_endings()->noting, 1, __ATOMIC_SEQ_CST);
}

/// Notes the end of this process in a word; returns -1 if the table is full.
static inline int waybill_watch(uint64_t *word, uint64_t seal, int descriptor, off_t offset) {
    pid_t process = getpid();
    for (int i = 0; i < waybill_end_count; i++) {
        struct waybill_end *end = &waybill_endings()->ends[i];
        uint64_t *found = __atomic_load_n(&end->word, __ATOMIC_SEQ_CST);
        // A child after fork(2) reuses the entries of its parent.
        if (found == &waybill_endings()->being_made || (found != NULL && end->process == process)) continue;
        if (!__atomic_compare_exchange_n(&end->word, &found, &waybill_endings()->being_made, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) continue;
        end->seal = seal;
        end->offset = offset;
        end->descriptor = descriptor;
        end->process = process;
        __atomic_store_n(&end->word, word, __ATOMIC_SEQ_CST);
        return i;
    }
    return -1;
}

/// Stops noting in a word, which may then be freed.
static inline void waybill_unwatch(int index, uint64_t *word) {
    if (index < 0 || index >= waybill_end_count) return;
    struct waybill_end *end = &waybill_endings()->ends[index];
    uint64_t *expected = word;
    if (end->process != getpid()) return;
    __atomic_compare_exchange_n(&end->word, &expected, NULL, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    // A handler on another thread may still use the word for a moment.
    for (int i = 0; i < 10000 && __atomic_load_n(&waybill_endings()->noting, __ATOMIC_SEQ_CST) > 0; i++) sched_yield();
}

/// Registers a function that `exit` calls.
static inline void waybill_watch_exit(void (*handler)(void)) { atexit(handler); }

// `SIG_DFL` and `SIG_IGN` are no functions, even with `SA_SIGINFO`. `sa_handler` and `sa_sigaction` share their storage.
static inline void waybill_caught(int signal, siginfo_t *info, void *context) {
    int error = errno;
    waybill_note((uint64_t)signal);
    const struct sigaction *before = &waybill_endings()->before[signal];
    if (before->sa_handler != SIG_DFL) {
        if (before->sa_flags & SA_SIGINFO) before->sa_sigaction(signal, info, context); else before->sa_handler(signal);
    } else {
        struct sigaction plain;
        memset(&plain, 0, sizeof plain);
        plain.sa_handler = SIG_DFL;
        sigemptyset(&plain.sa_mask);
        sigaction(signal, &plain, NULL);
        // A fault recurs as soon as this returns, and keeps its core dump. A signal that was sent must be raised again.
        int is_fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
#ifdef __APPLE__
#if defined(__aarch64__)
        // A trap of Swift is the instruction `brk` there.
        is_fault = is_fault || signal == SIGTRAP;
#endif
        // The codes of sent signals are positive there: SI_USER and those after it.
        if (info != NULL && info->si_code >= SI_USER) is_fault = 0;
#endif
        if (!is_fault || info == NULL || info->si_code <= 0) raise(signal);
    }
    // If the signal now has a handler, the process continues.
    struct sigaction now;
    if (sigaction(signal, NULL, &now) == 0 && now.sa_handler != SIG_DFL) waybill_note(waybill_end_unseen);
    errno = error;
}

/// Catches the signals that end a process, except ignored ones. Call it once.
static inline void waybill_catch_signals(void) {
    static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS,
                                  SIGFPE,  SIGSEGV, SIGSYS,  SIGPIPE, SIGTERM, SIGXCPU};
    for (unsigned i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        int signal = signals[i];
        struct sigaction *before = &waybill_endings()->before[signal];
        if (sigaction(signal, NULL, before) != 0) continue;
        if (before->sa_handler == SIG_IGN) continue;
        struct sigaction ours;
        memset(&ours, 0, sizeof ours);
        ours.sa_sigaction = waybill_caught;
        ours.sa_mask = before->sa_mask;
        // The alternate stack, if the thread has one, lets us note a stack overflow.
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (before->sa_flags & (SA_RESTART | SA_NODEFER | SA_RESETHAND));
        if (before->sa_handler == SIG_DFL) ours.sa_flags |= SA_RESTART;
        sigaction(signal, &ours, NULL);
    }
}
