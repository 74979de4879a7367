import Foundation

/// ASCII classes. Bytes of longer UTF-8 sequences belong to none.
extension UInt8 {
    package var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
    package var isSmallLetter: Bool { self &- UInt8(ascii: "a") < 26 }
    var isCapital: Bool { self &- UInt8(ascii: "A") < 26 }
    package var isLetter: Bool { (self | 0x20).isSmallLetter }
    package var isLetterOrDigit: Bool { isLetter || isDigit }
    var isBlank: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }

    /// Whether this is one of a few ASCII characters, compared one by one.
    @inline(__always)
    func isOne(of characters: StaticString) -> Bool {
        for index in 0..<characters.utf8CodeUnitCount where characters.utf8Start[index] == self { return true }
        return false
    }

    var lowercased: UInt8 { isCapital ? self | 0x20 : self }

    package var hexadecimalValue: UInt8? {
        if isDigit { return self &- UInt8(ascii: "0") }
        let letter = (self | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }
}

extension Sequence<UInt8> {
    /// Calls `body` with the bytes in a row, so that its loop is compiled once and not for each kind of sequence.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        withContiguousStorageIfAvailable(body) ?? Array(self).withUnsafeBufferPointer(body)
    }
}

/// The name of a member in JSON. A type whose keys are an enum adds 3 KB more to an app.
package struct MemberKey: CodingKey, ExpressibleByStringLiteral {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(stringValue: String) { self.stringValue = stringValue }
    package init(stringLiteral name: String) { stringValue = name }
    package init?(intValue: Int) { nil }
}

extension Substring {
    var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}

extension String {
    package func isLonger(than limit: Int) -> Bool {
        utf8.count > limit && unicodeScalars.dropFirst(limit).first != nil
    }

    /// The string, or its first `limit` Unicode scalars if it is longer.
    package func cut(to limit: Int) -> String {
        isLonger(than: limit) ? String(String.UnicodeScalarView(unicodeScalars.prefix(limit))) : self
    }

    /// The authority of a URL with this host, which may be a `Host` field with a port, or an IPv6 address without brackets.
    package func authority(port: Int64?) -> String {
        let hasSeveralColons = utf8.lazy.filter { $0 == UInt8(ascii: ":") }.prefix(2).count > 1
        if hasSeveralColons, !hasPrefix("[") { return "[\(self)]".authority(port: port) }
        let hasPort = hasSeveralColons ? contains("]:") : contains(":")
        return hasPort ? self : port.map { "\(self):\($0)" } ?? self
    }

    /// Decodes valid UTF-8, like `String(validating:as:)`, which requires iOS 18.
    package init?(utf8 bytes: some Collection<UInt8>) {
        guard let text = bytes.withBytes(Self.text) else { return nil }
        self = text
    }

    private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        var text = String(decoding: bytes, as: UTF8.self)
        // Decoding replaces invalid bytes, which changes the text.
        let isSame = text.withUTF8 { text in
            guard text.count == bytes.count else { return false }
            guard let start = text.baseAddress, let original = bytes.baseAddress else { return true }
            return memcmp(start, original, text.count) == 0
        }
        return isSame ? text : nil
    }

    /// The name with the smallest edit distance, at most a third of its length. Considers 2,000 names at most.
    package func nearest(among names: [String]) -> String? {
        let (longest, most) = (64, 2_000)
        let word = lowercased()
        guard word.count <= longest else { return nil }
        var nearest: (name: String, distance: Int)?
        for name in names.lazy.filter({ $0.utf8.count <= 4 * longest }).prefix(most) {
            // A larger difference in length implies a larger distance.
            let allowed = max(1, name.count / 3)
            guard abs(name.count - word.count) <= allowed else { continue }
            let distance = word.distance(to: name.lowercased())
            if distance <= allowed, distance < nearest?.distance ?? .max { nearest = (name, distance) }
        }
        return nearest?.name
    }

    private func distance(to other: String) -> Int {
        let letters = Array(other)
        var row = Array(0...letters.count)
        for (line, letter) in enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for index in letters.indices {
                let replaced = diagonal + (letter == letters[index] ? 0 : 1)
                diagonal = row[index + 1]
                row[index + 1] = Swift.min(replaced, diagonal + 1, row[index] + 1)
            }
        }
        return row[letters.count]
    }
}
