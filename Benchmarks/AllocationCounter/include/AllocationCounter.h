#include <stdint.h>

/// How often the calling thread has asked for memory; always 0 where that cannot be counted.
uint64_t allocation_count(void);
