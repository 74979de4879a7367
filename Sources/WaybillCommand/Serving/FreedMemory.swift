#if Collector
import Foundation

/// What the C library does with memory that was freed.
enum FreedMemory {
    /// Gives it back as soon as 128 KiB of it lie at an end.
    ///
    /// By itself glibc keeps up to 64 MiB at the end of each thread's share, the more the larger what was freed before: a
    /// question of many words would leave some in each. Found by its name, since other C libraries do not have it and
    /// give memory back anyway.
    static func giveBack() {
        guard let symbol = dlsym(nil, "mallopt") else { return }
        let mallopt = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
        let trimThreshold: CInt = -1  // M_TRIM_THRESHOLD of malloc.h
        _ = mallopt(trimThreshold, 128 << 10)
    }
}
#endif
