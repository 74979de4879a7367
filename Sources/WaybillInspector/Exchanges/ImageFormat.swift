/// An image format, detected by its first bytes. SVG is excluded, because it can contain scripts.
package enum ImageFormat: String, Sendable, CaseIterable {
    case png, jpeg, gif, webp

    package init?(_ bytes: [UInt8]) {
        func has(_ magic: String, at start: Int = 0) -> Bool { bytes.dropFirst(start).starts(with: magic.utf8) }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if has("GIF87a") || has("GIF89a") {
            self = .gif
        } else if has("RIFF"), has("WEBP", at: 8) {
            self = .webp
        } else {
            return nil
        }
    }

    package var mediaType: String { "image/\(rawValue)" }

    var name: String { self == .webp ? "WebP" : rawValue.uppercased() }

    /// Returns the size in pixels from the image's header; `nil` if it is missing.
    func size(of bytes: [UInt8]) -> ImageSize? {
        let reader = ImageBytes(bytes: bytes)
        let size: ImageSize? =
            switch self {
            case .png: ImageSize(reader.big(16, 4), reader.big(20, 4))
            case .gif: ImageSize(reader.little(6, 2), reader.little(8, 2))
            case .jpeg: reader.sizeOfJPEG
            case .webp: reader.sizeOfWebP
            }
        return size.flatMap { $0.width > 0 && $0.height > 0 ? $0 : nil }
    }
}

struct ImageSize: Equatable {
    var width, height: Int

    init?(_ width: Int?, _ height: Int?) {
        guard let width, let height else { return nil }
        (self.width, self.height) = (width, height)
    }

    /// Larger images could exhaust a browser's memory with a few bytes.
    private static let pixelLimit = 40_000_000

    var isShowable: Bool { width <= Self.pixelLimit / height }
}

private struct ImageBytes {
    let bytes: [UInt8]

    func big(_ start: Int, _ count: Int) -> Int? {
        guard start + count <= bytes.count else { return nil }
        return bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
    }

    func little(_ start: Int, _ count: Int) -> Int? {
        guard start + count <= bytes.count else { return nil }
        return bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Follows segments to the first frame (ITU-T T.81, annex B).
    var sizeOfJPEG: ImageSize? {
        var place = 2
        while let marker = big(place, 2), marker >> 8 == 0xFF {
            switch marker & 0xFF {
            case 0xFF: place += 1
            case 0x01, 0xD0...0xD9: place += 2
            case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker & 0xFF):
                return ImageSize(big(place + 7, 2), big(place + 5, 2))
            default:
                guard let length = big(place + 2, 2), length >= 2 else { return nil }
                place += 2 + length
            }
        }
        return nil
    }

    /// Reads the first chunk (RFC 9649, sections 2.5 to 2.7).
    var sizeOfWebP: ImageSize? {
        switch bytes.count >= 16 ? String(decoding: bytes[12..<16], as: UTF8.self) : "" {
        case "VP8 ": return ImageSize(little(26, 2).map { $0 & 0x3FFF }, little(28, 2).map { $0 & 0x3FFF })
        case "VP8L": return little(21, 4).flatMap { ImageSize($0 & 0x3FFF + 1, $0 >> 14 & 0x3FFF + 1) }
        case "VP8X": return ImageSize(little(24, 3).map { $0 + 1 }, little(27, 3).map { $0 + 1 })
        default: return nil
        }
    }
}
