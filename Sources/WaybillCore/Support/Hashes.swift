import Foundation

/// SHA-256 (FIPS 180-4, section 6.2), because CryptoKit is not available on all platforms. Its only secrets are random
/// tokens, about which timing reveals nothing.
package enum SHA256 {
    package static let byteCount = 32

    package static func base64(_ message: [UInt8]) -> String { Data(hash(message)).base64EncodedString() }

    package static func hex(_ message: [UInt8]) -> String { hex(ofHash: hash(message)) }

    package static func hex(ofHash hash: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: hash.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    package static func hash(_ message: [UInt8]) -> [UInt8] {
        var hash: [UInt32] = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
        ]
        let whole = message.count & ~63
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
            message.withUnsafeBytes { bytes in
                for start in stride(from: 0, to: whole, by: 64) { add(bytes, from: start, to: &hash, words) }
            }
            padded(message[whole...], of: message.count).withUnsafeBytes { bytes in
                for start in stride(from: 0, to: bytes.count, by: 64) { add(bytes, from: start, to: &hash, words) }
            }
        }
        return hash.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) } }
    }

    /// Section 5.1.1: the rest of the message, a 1 bit, zeros, and the message's length in bits.
    private static func padded(_ rest: ArraySlice<UInt8>, of byteCount: Int) -> [UInt8] {
        let zeros = (119 - byteCount % 64) % 64
        let length = UInt64(byteCount) * 8
        return Array(rest) + [0x80] + [UInt8](repeating: 0, count: zeros)
            + (0..<8).map { UInt8(truncatingIfNeeded: length >> UInt64(56 - 8 * $0)) }
    }

    private static func add(
        _ bytes: UnsafeRawBufferPointer, from start: Int, to hash: inout [UInt32],
        _ words: UnsafeMutableBufferPointer<UInt32>
    ) {
        for index in 0..<16 {
            let word = bytes.loadUnaligned(fromByteOffset: start + 4 * index, as: UInt32.self)
            words[index] = UInt32(bigEndian: word)
        }
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let first = turned(early, 7) ^ turned(early, 18) ^ early >> 3
            let second = turned(late, 17) ^ turned(late, 19) ^ late >> 10
            words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
        }
        var (a, b, c, d, e, f, g, h) = (hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7])
        constants.withUnsafeBufferPointer { constants in
            for index in 0..<64 {
                let choice = e & f ^ ~e & g
                let majority = a & b ^ a & c ^ b & c
                let first =
                    h &+ (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) &+ choice &+ constants[index] &+ words[index]
                let second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) &+ majority
                (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
            }
        }
        hash[0] &+= a
        hash[1] &+= b
        hash[2] &+= c
        hash[3] &+= d
        hash[4] &+= e
        hash[5] &+= f
        hash[6] &+= g
        hash[7] &+= h
    }

    private static func turned(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }

    /// Section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}

/// SipHash-2-4 with 128 bits (Aumasson and Bernstein, 2012), which is ten times as fast as HMAC-SHA256 in software.
package struct SipHash: Sendable {
    package typealias Value = (UInt64, UInt64)

    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    private var word: UInt64 = 0
    private var byteCount = 0

    package init(key: Value) {
        v0 = key.0 ^ 0x736f_6d65_7073_6575
        v1 = key.1 ^ 0x646f_7261_6e64_6f6d ^ 0xee
        v2 = key.0 ^ 0x6c79_6765_6e65_7261
        v3 = key.1 ^ 0x7465_6462_7974_6573
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while index < bytes.count, byteCount % 8 != 0 {
            append(bytes[index])
            index += 1
        }
        while index + 8 <= bytes.count {
            compress(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
            byteCount += 8
            index += 8
        }
        while index < bytes.count {
            append(bytes[index])
            index += 1
        }
    }

    package mutating func update(_ value: UInt64) { withUnsafeBytes(of: value.littleEndian) { update($0) } }

    package var value: Value {
        var copy = self
        copy.compress(word | UInt64(truncatingIfNeeded: byteCount) << 56)
        copy.v2 ^= 0xee
        for _ in 0..<4 { copy.round() }
        let first = copy.v0 ^ copy.v1 ^ copy.v2 ^ copy.v3
        copy.v1 ^= 0xdd
        for _ in 0..<4 { copy.round() }
        return (first, copy.v0 ^ copy.v1 ^ copy.v2 ^ copy.v3)
    }

    private mutating func append(_ byte: UInt8) {
        word |= UInt64(byte) << UInt64(byteCount % 8 * 8)
        byteCount += 1
        guard byteCount % 8 == 0 else { return }
        compress(word)
        word = 0
    }

    @inline(__always)
    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    @inline(__always)
    private mutating func round() {
        v0 &+= v1
        v1 = v1 << 13 | v1 >> 51
        v1 ^= v0
        v0 = v0 << 32 | v0 >> 32
        v2 &+= v3
        v3 = v3 << 16 | v3 >> 48
        v3 ^= v2
        v0 &+= v3
        v3 = v3 << 21 | v3 >> 43
        v3 ^= v0
        v2 &+= v1
        v1 = v1 << 17 | v1 >> 47
        v1 ^= v2
        v2 = v2 << 32 | v2 >> 32
    }
}
