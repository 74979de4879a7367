#include <stdbool.h>
#include <stdint.h>

// Words of memory that several threads, or with mapped memory several processes, read and write without a lock. Inline, so that each is the one
// instruction that it would be in C; Swift's own atomics are not on iOS before 18, and live in objects only.
//
// What reads and writes at once has one order, that of both: the processor's instruction is the same as with less, or costs as much.

typedef uint64_t waybill_word;

#define WAYBILL_INLINE static inline __attribute__((always_inline))

WAYBILL_INLINE uint64_t waybill_load_relaxed(const waybill_word *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

WAYBILL_INLINE uint64_t waybill_load_acquire(const waybill_word *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

WAYBILL_INLINE uint64_t waybill_load_in_order(const waybill_word *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }

WAYBILL_INLINE void waybill_store_relaxed(waybill_word *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }

WAYBILL_INLINE void waybill_store_release(waybill_word *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }

WAYBILL_INLINE void waybill_store_in_order(waybill_word *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }

/// Gives what was there before.
WAYBILL_INLINE uint64_t waybill_exchange(waybill_word *word, uint64_t value) { return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL); }

/// Gives what was there before; wraps around.
WAYBILL_INLINE uint64_t waybill_add(waybill_word *word, uint64_t value) { return __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL); }

/// Gives what was there before.
WAYBILL_INLINE uint64_t waybill_set_bits(waybill_word *word, uint64_t bits) { return __atomic_fetch_or(word, bits, __ATOMIC_ACQ_REL); }

/// Writes the value where the word is as expected, else sets what was expected to what is there. A weak one may fail although it is as expected: for
/// loops, which it makes shorter on some processors.
WAYBILL_INLINE bool waybill_compare_exchange(waybill_word *word, waybill_word *expected, uint64_t value, bool weak) {
    return weak ? __atomic_compare_exchange_n(word, expected, value, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
                : __atomic_compare_exchange_n(word, expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/// Where the generation of this process lies. It is there once in a process because Threads.swift alone uses it, in what is not inlined.
WAYBILL_INLINE waybill_word **waybill_generation(void) {
    static waybill_word generation = 1; // in a function, because Swift's importer makes nothing of a variable of a header
    static waybill_word *place = &generation;
    return &place;
}
