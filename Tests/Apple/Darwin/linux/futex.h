// For the header of the toolchain's Synchronization, which is Linux's. No other file includes it.
#pragma once
enum { SYS_gettid = 186, SYS_futex = 202, FUTEX_LOCK_PI_PRIVATE = 134, FUTEX_UNLOCK_PI_PRIVATE = 135, FUTEX_TRYLOCK_PI = 8 };
long syscall(long number, ...);
