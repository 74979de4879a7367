#if Collector
import CWaybillZlib

/// Decompresses a stream piece by piece (RFC 1952), and never more than it is allowed to.
final class Gunzip {
    private let stream: UnsafeMutablePointer<z_stream>
    private var output = [UInt8](repeating: 0, count: 64 << 10)
    /// Whether a member has ended, and no other begun.
    private var isBetweenMembers = false

    /// What is wrong with what is decompressed.
    enum Failure: Error {
        /// The bytes are not gzip, damaged, or cut off.
        case notGzip
        /// There was no memory to decompress.
        case noMemory
    }

    init() throws(Failure) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // zlib.h, "inflateInit2": 15 bits of window, and 16 for a gzip header and no other. The function is behind a
        // macro.
        guard inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            stream.deallocate()
            throw .noMemory
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Decompresses what these bytes complete, and hands it over piece by piece; what `take` throws ends it.
    func decompress(_ bytes: some Collection<UInt8>, _ take: (ArraySlice<UInt8>) throws -> Void) throws {
        var input = Array(bytes)
        try input.withUnsafeMutableBufferPointer { input in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = UInt32(input.count)
            var isOutputFull = false
            while stream.pointee.avail_in > 0 || isOutputFull {
                // RFC 1952, section 2.2: members follow each other without anything between them.
                if isBetweenMembers { inflateReset(stream) }
                let (status, count) = inflateOnce()
                // No progress is no fault: it waits for input.
                guard [Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(status) else { throw Failure.notGzip }
                isBetweenMembers = status == Z_STREAM_END
                isOutputFull = count == output.count
                try take(output[..<count])
                if status == Z_BUF_ERROR { break }
            }
        }
    }

    /// Makes sure that the last member was whole.
    func finish() throws(Failure) {
        guard isBetweenMembers else { throw .notGzip }
    }

    private func inflateOnce() -> (status: Int32, count: Int) {
        output.withUnsafeMutableBufferPointer { output in
            stream.pointee.next_out = output.baseAddress
            stream.pointee.avail_out = UInt32(output.count)
            let status = inflate(stream, Z_NO_FLUSH)
            return (status, output.count - Int(stream.pointee.avail_out))
        }
    }
}
#endif
