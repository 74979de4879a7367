/// A text with gaps, compared in time that is bounded for every text.
struct WildcardPattern: Sendable {
    private enum Piece: Sendable, Equatable {
        case byte(UInt8)
        case anyScalar
        case anything
    }

    /// Comparisons before it gives up, some 10 milliseconds; a word is found in 64 KiB in 131,072 or little more.
    private static let stepLimit = 2_000_000

    private let pieces: [Piece]

    /// Matches the whole text.
    init(exactly text: String) { pieces = text.utf8.map { .byte($0) } }

    /// Matches wherever the text is a piece.
    init(anywhere text: String) { pieces = [.anything] + text.utf8.map { .byte($0) } + [.anything] }

    /// Matches the whole text, with `*` for anything and `?` for one character.
    init(glob: String) {
        pieces = glob.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "*"): .anything
            case UInt8(ascii: "?"): .anyScalar
            default: .byte(byte)
            }
        }
    }

    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var piece = 0
        var index = 0
        // Only the last gap can have to be widened: an earlier one that is as narrow as can be leaves most to those
        // after it.
        var gap: (next: Int, end: Int)?
        for _ in 0..<Self.stepLimit {
            if index == text.count { return pieces[piece...].allSatisfy { $0 == .anything } }
            switch piece < pieces.count ? pieces[piece] : nil {
            case .anything:
                piece += 1
                gap = (piece, index)
                if piece == pieces.count { return true }
            case .anyScalar:
                piece += 1
                index = Self.endOfScalar(at: index, in: text)
            case .byte(text[index]):
                piece += 1
                index += 1
            default:
                guard let narrow = gap else { return false }
                gap = (narrow.next, narrow.end + 1)
                (piece, index) = (narrow.next, narrow.end + 1)
            }
        }
        return false
    }

    private static func endOfScalar(at index: Int, in text: UnsafeBufferPointer<UInt8>) -> Int {
        var end = index + 1
        while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
        return end
    }
}
