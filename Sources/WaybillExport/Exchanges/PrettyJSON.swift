import WaybillCore

/// JSON on several lines, as people read it.
package enum PrettyJSON {
    /// The text of a JSON object or array, indented by two spaces for each level; nil for anything else.
    ///
    /// Members keep their order and numbers their digits: only the white space between them is another.
    package static func text(_ json: String) -> String? {
        guard let first = json.utf8.first(where: { !" \t\r\n".utf8.contains($0) }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        else { return nil }
        let bytes = Array(json.utf8)
        guard (try? JSONReader.read(bytes) { reader throws(JSONFailure) in try reader.skipValue() }) != nil else {
            return nil
        }
        return String(decoding: indented(bytes), as: UTF8.self)
    }

    /// `bytes` are valid JSON, so that it is enough to tell strings from what stands between them.
    private static func indented(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var depth = 0
        var isInString = false
        var isEscaped = false
        for byte in bytes {
            if isInString {
                result.append(byte)
                if !isEscaped, byte == UInt8(ascii: "\"") { isInString = false }
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case 0x20, 0x0A, 0x0D, 0x09: break
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                result.append(byte)
                appendLine(depth, to: &result)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                let isEmpty =
                    result.last == UInt8(ascii: " ") && result.last { $0 > 0x20 }.map { "{[".utf8.contains($0) } == true
                if isEmpty {
                    while let last = result.last, last <= 0x20 { result.removeLast() }
                } else {
                    appendLine(depth, to: &result)
                }
                result.append(byte)
            case UInt8(ascii: ","):
                result.append(byte)
                appendLine(depth, to: &result)
            case UInt8(ascii: ":"): result += ": ".utf8
            default:
                isInString = byte == UInt8(ascii: "\"")
                result.append(byte)
            }
        }
        return result
    }

    private static func appendLine(_ depth: Int, to result: inout [UInt8]) {
        result.append(UInt8(ascii: "\n"))
        result += repeatElement(UInt8(ascii: " "), count: 2 * depth)
    }
}
