#include <stdbool.h>
#include <stdint.h>

// Atomic words, shared by threads or, in mapped memory, by processes. Each inline function compiles to one
// instruction. Swift's own atomics require iOS 18 and live only in objects. Read-modify-write operations acquire and
// release: weaker orders compile to the same instruction or cost as much.

typedef uint64_t waybill_word;

#define WAYBILL_INLINE static inline __attribute__((always_inline))

WAYBILL_INLINE uint64_t waybill_load_relaxed(const waybill_word *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

WAYBILL_INLINE uint64_t waybill_load_acquire(const waybill_word *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

WAYBILL_INLINE uint64_t waybill_load_in_order(const waybill_word *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }

WAYBILL_INLINE void waybill_store_relaxed(waybill_word *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }

WAYBILL_INLINE void waybill_store_release(waybill_word *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }

WAYBILL_INLINE void waybill_store_in_order(waybill_word *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }

/// Returns the previous value.
WAYBILL_INLINE uint64_t waybill_exchange(waybill_word *word, uint64_t value) { return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL); }

/// Returns the previous value; wraps around on overflow.
WAYBILL_INLINE uint64_t waybill_add(waybill_word *word, uint64_t value) { return __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL); }

/// Returns the previous value.
WAYBILL_INLINE uint64_t waybill_set_bits(waybill_word *word, uint64_t bits) { return __atomic_fetch_or(word, bits, __ATOMIC_ACQ_REL); }

/// Writes `value` if the word equals `expected`; otherwise stores the word in `expected`. A weak exchange may fail
/// spuriously, which makes loops shorter on some processors.
WAYBILL_INLINE bool waybill_compare_exchange(waybill_word *word, waybill_word *expected, uint64_t value, bool weak) {
    return weak ? __atomic_compare_exchange_n(word, expected, value, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
                : __atomic_compare_exchange_n(word, expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/// The place of this process's generation. Only Threads.swift uses it, in functions that are not inlined, so it exists
/// once in a process.
WAYBILL_INLINE waybill_word **waybill_generation(void) {
    static waybill_word generation = 1; // in a function, because Swift's importer makes nothing of a variable of a header
    static waybill_word *place = &generation;
    return &place;
}
