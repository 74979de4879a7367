import Foundation

/// Makes UUIDv7 values from random bytes drawn in blocks: `UUID()` costs a system call for each.
final class GUIDGenerator: Sendable {
    static let shared = GUIDGenerator()

    private struct Block {
        /// Three for each ID.
        var words = [UInt32](repeating: 0, count: 768)
        var used = 768
        var generation = 0

        mutating func refill() {
            let key = randomKey()
            for start in stride(from: 0, to: words.count, by: 16) {
                let block = ChaCha8.block(key: key, counter: UInt32(start / 16))
                for index in 0..<16 { words[start + index] = block[index] }
            }
            used = 0
            generation = ProcessGeneration.current
        }
    }

    private let block = Locked(Block())

    /// The next ID for a wall-clock time in milliseconds since 1970.
    func next(millisecondsSince1970: Int64) -> GUID {
        let random: (UInt32, UInt32, UInt32) = block.withLock { block in
            // A forked child holds a copy of the block: used again, both processes would hand out the same IDs.
            if block.used == block.words.count || block.generation != ProcessGeneration.current { block.refill() }
            defer { block.used += 3 }
            return (block.words[block.used], block.words[block.used + 1], block.words[block.used + 2])
        }
        // RFC 9562, 5.7: 48 bits of milliseconds, version 7, 12 random bits, variant 0b10, 62 random bits.
        let milliseconds = UInt64(max(0, millisecondsSince1970)) & 0xFFFF_FFFF_FFFF
        return GUID(
            high: milliseconds << 16 | 0x7000 | UInt64(random.2 & 0x0FFF),
            low: 1 << 63 | UInt64(random.0 & 0x3FFF_FFFF) << 32 | UInt64(random.1))
    }
}

/// 32 bytes from the system.
private func randomKey() -> SIMD8<UInt32> {
    var key = SIMD8<UInt32>()
    #if canImport(Darwin)
    // It never fails; `getentropy` is not public there but on Macs, and the App Store refuses an app that calls it.
    arc4random_buf(&key, MemoryLayout.size(ofValue: key))
    #else
    if getentropy(&key, MemoryLayout.size(ofValue: key)) != 0 {
        // A kernel without it: slower, and never a reason to stop.
        var system = SystemRandomNumberGenerator()
        key = .random(in: .min ... .max, using: &system)
    }
    #endif
    return key
}
