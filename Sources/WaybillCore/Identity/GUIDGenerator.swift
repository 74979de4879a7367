import Foundation

/// Makes UUIDv7 values from random bytes drawn in blocks: `UUID()` costs a system call for each.
final class GUIDGenerator: Sendable {
    static let shared = GUIDGenerator()

    private struct Block {
        var bytes = [UInt8](repeating: 0, count: 4000)
        var used = 4000
        var generation = 0
    }

    private static let bytesPerID = 10
    private let block = Locked(Block())

    /// The next ID for a wall-clock time in milliseconds since 1970.
    func next(millisecondsSince1970: Int) -> GUID {
        let (word, tail): (UInt64, UInt64) = block.withLock { block in
            // A forked child holds a copy of the block: used again, both processes would hand out the same IDs.
            if block.used + Self.bytesPerID > block.bytes.count || block.generation != ProcessGeneration.current {
                block.bytes.withUnsafeMutableBytes(fillWithRandomBytes)
                block.used = 0
                block.generation = ProcessGeneration.current
            }
            defer { block.used += Self.bytesPerID }
            return block.bytes.withUnsafeBytes {
                (
                    $0.loadUnaligned(fromByteOffset: block.used, as: UInt64.self),
                    UInt64($0.loadUnaligned(fromByteOffset: block.used + 8, as: UInt16.self))
                )
            }
        }
        // RFC 9562, 5.7: 48 bits of milliseconds, version 7, 12 random bits, variant 0b10, 62 random bits.
        let milliseconds = UInt64(max(0, millisecondsSince1970)) & 0xFFFF_FFFF_FFFF
        return GUID(high: milliseconds << 16 | 0x7000 | tail & 0x0FFF, low: word & 0x3FFF_FFFF_FFFF_FFFF | 1 << 63)
    }
}

private func fillWithRandomBytes(_ buffer: UnsafeMutableRawBufferPointer) {
    // getentropy(3): at most 256 bytes a call.
    for start in stride(from: 0, to: buffer.count, by: 250) {
        let count = min(250, buffer.count - start)
        guard let base = buffer.baseAddress, getentropy(base + start, count) != 0 else { continue }
        // A kernel without it: slower, and never a reason to stop.
        var system = SystemRandomNumberGenerator()
        for index in start..<(start + count) { buffer[index] = UInt8.random(in: .min ... .max, using: &system) }
    }
}
