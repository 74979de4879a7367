/// Fields of Protocol Buffers (https://protobuf.dev/programming-guides/encoding), as answers have them.
package enum ProtobufWriter {
    package static func integer(_ value: Int, field: Int) -> [UInt8] { varint(field << 3) + varint(value) }

    package static func text(_ text: String, field: Int) -> [UInt8] { bytes(Array(text.utf8), field: field) }

    package static func bytes(_ bytes: [UInt8], field: Int) -> [UInt8] {
        varint(field << 3 | 2) + varint(bytes.count) + bytes
    }

    private static func varint(_ value: Int) -> [UInt8] {
        var (bytes, rest): ([UInt8], Int) = ([], value)
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}
