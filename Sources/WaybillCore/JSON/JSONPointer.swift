/// Says where in a document something is, by RFC 6901: `/sources/0/clocks`.
///
/// Found by reading the document again, so that reading keeps no account of where it is.
package enum JSONPointer {
    /// The innermost value that `offset` lies in, or that starts there; as far as the document can be read.
    package static func path(to offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        var reader = JSONReader(bytes)
        var path = ""
        while let token = step(&reader, towards: offset) { path += "/" + escaped(token) }
        return path
    }

    /// Goes to the member or element that holds `offset`, and gives its name; nil when it is in none.
    private static func step(_ reader: inout JSONReader, towards offset: Int) -> String? {
        let first = reader.next
        guard reader.offset < offset else { return nil }
        do throws(JSONFailure) {
            switch first {
            case UInt8(ascii: "{"):
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    reader.skipWhitespace()
                    if passes(offset, reader) { return key.string }
                    try reader.skipValue()
                }
            case UInt8(ascii: "["):
                try reader.beginArray()
                var index = 0
                while try reader.nextElement() {
                    reader.skipWhitespace()
                    if passes(offset, reader) { return "\(index)" }
                    try reader.skipValue()
                    index += 1
                }
            default: break
            }
        } catch {
            // The fault itself, between members.
        }
        return nil
    }

    /// Whether `offset` lies in the value that comes next.
    private static func passes(_ offset: Int, _ reader: JSONReader) -> Bool {
        var ahead = reader
        do throws(JSONFailure) { try ahead.skipValue() } catch { return true }
        return offset < ahead.offset
    }

    private static func escaped(_ token: String) -> String {
        var result = ""
        for scalar in token.unicodeScalars.prefix(64) {
            switch scalar {
            case "~": result += "~0"
            case "/": result += "~1"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
