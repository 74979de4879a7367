#include <stdint.h>

/// Returns how often the calling thread has requested memory; always 0 where that cannot be counted.
uint64_t allocation_count(void);
