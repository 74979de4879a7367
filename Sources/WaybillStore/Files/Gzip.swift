import CWaybillZlib
package import WaybillCore

package final class Gzip {
    private let stream: UnsafeMutablePointer<z_stream>
    private var output = [UInt8](repeating: 0, count: 64 << 10)

    /// `isFast` takes a third of the time, for output that is a quarter larger.
    package init(isFast: Bool = false) throws(WaybillError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard waybill_gzip_init(stream, isFast ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION) == Z_OK else {
            stream.deallocate()
            throw WaybillError(.setting, "There was no memory left to compress.")
        }
    }

    package static func compressed(_ bytes: [UInt8]) throws(WaybillError) -> [UInt8] {
        let gzip = try Gzip(isFast: true)
        return gzip.compress(bytes) + gzip.finish()
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    package func compress(_ bytes: [UInt8]) -> [UInt8] { deflate(bytes, Z_NO_FLUSH) }

    package func finish() -> [UInt8] { deflate([], Z_FINISH) }

    private func deflate(_ bytes: [UInt8], _ flush: Int32) -> [UInt8] {
        var input = bytes
        var result: [UInt8] = []
        input.withUnsafeMutableBufferPointer { input in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = UInt32(input.count)
            output.withUnsafeMutableBufferPointer { output in
                repeat {
                    stream.pointee.next_out = output.baseAddress
                    stream.pointee.avail_out = UInt32(output.count)
                    // This fails only for invalid arguments (zlib.h, "deflate").
                    CWaybillZlib.deflate(stream, flush)
                    result += output[..<(output.count - Int(stream.pointee.avail_out))]
                } while stream.pointee.avail_out == 0
            }
        }
        return result
    }
}
