import Foundation
import TestSupport
import Testing
import WaybillCore

/// Valid text that is rejected appears as bytes. Invalid bytes that are accepted as text become different text.
@Suite(.timeLimit(.minutes(5))) struct StringUTF8Tests {
    @Test(
        arguments: [
            [], [0], [0x41, 0, 0x42], [0xEF, 0xBB, 0xBF, 0x41], [0xEF, 0xBF, 0xBD], [0xC3, 0xA9],
            [0xF0, 0x9F, 0x98, 0x80],
            Array(String(repeating: "é😀\0", count: 100).utf8),
        ] as [[UInt8]]) func whatIsUTF8IsTakenAsItIs(bytes: [UInt8])
    {
        #expect(String(utf8: bytes).map { Array($0.utf8) } == bytes)
        #expect(String(utf8: Data(bytes)).map { Array($0.utf8) } == bytes)
        #expect(String(utf8: ([0xFF] + bytes).dropFirst()).map { Array($0.utf8) } == bytes)
        // A collection without contiguous storage.
        #expect(String(utf8: AnyCollection(bytes)).map { Array($0.utf8) } == bytes)
    }

    /// Lone, overlong, truncated, a surrogate, beyond Unicode. The truncated one is as long as its replacement
    /// character.
    @Test(
        arguments: [
            [0x80], [0xC0, 0x80], [0xE0, 0x80, 0x80], [0x41, 0xC3], [0xF0, 0x9F, 0x98], [0xED, 0xA0, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xFF], Array(repeating: 0x41, count: 100) + [0xE2, 0x82],
        ] as [[UInt8]]) func whatIsNotUTF8IsNoText(bytes: [UInt8])
    {
        #expect(String(utf8: bytes) == nil)
        #expect(String(utf8: Data(bytes)) == nil)
        #expect(String(utf8: AnyCollection(bytes)) == nil)
    }

    @Test func itIsTextExactlyWhenTheStandardLibrarySaysSo() {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        var random = SeededGenerator(seed: 7)
        let bytes: [UInt8] = [
            0, 0x41, 0x7F, 0x80, 0x8F, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5,
        ]
        var validCount = 0
        for _ in 0..<40_000 {
            let sequence = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                bytes.randomElement(using: &random) ?? 0
            }
            let expected = String(validating: sequence, as: UTF8.self)
            if String(utf8: sequence) != expected { Issue.record("\(sequence)") }
            validCount += expected == nil ? 0 : 1
        }
        #expect(validCount > 1000)
    }
}
