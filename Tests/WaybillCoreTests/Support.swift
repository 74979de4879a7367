import Foundation
import WaybillCore

/// The `Schemas/` folder of this checkout.
enum Schemas {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "Schemas")

    static func examples(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Self.folder.appending(path: "examples/\(folder)").path)
            .filter { $0.hasSuffix(".json") }.sorted()
    }

    static func example(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: "examples/\(path)")))
    }
}

/// Removes layout whitespace: the examples are laid out for people.
func withoutInsignificantSpaces(_ bytes: [UInt8]) -> String {
    var isInString = false
    var isEscaped = false
    let kept = bytes.filter { byte in
        if isInString {
            isInString = isEscaped || byte != UInt8(ascii: "\"")
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            return true
        }
        isInString = byte == UInt8(ascii: "\"")
        return !" \n\r\t".utf8.contains(byte)
    }
    return String(decoding: kept, as: UTF8.self)
}

/// Returns the same numbers for the same seed, to make failures repeatable.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns the bytes with a few of them replaced, left out, repeated, or cut off.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &self) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &self)
            switch Int.random(in: 0..<6, using: &self) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &self)
            case 1: bytes[index] = Array("\"\\{}[]:,;=u\u{0}0-.eE@?%*".utf8).randomElement(using: &self) ?? 0
            case 2: bytes.remove(at: index)
            case 3: bytes.insert(bytes[index], at: index)
            case 4: bytes.insert(contentsOf: bytes[index..<min(bytes.count, index + 12)], at: index)
            default: if Int.random(in: 0..<4, using: &self) == 0 { bytes.removeSubrange(index...) }
            }
        }
        return bytes
    }
}

extension GUID {
    /// Returns the same ID for the same number.
    static func fixed(_ number: UInt64) -> GUID { GUID(high: 0x0199_F3A2_5C00_7000, low: 1 << 63 | number) }
}
