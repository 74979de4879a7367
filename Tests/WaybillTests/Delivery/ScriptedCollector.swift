import CWaybillZlib
import Foundation
import TestSupport
import WaybillCore
import WaybillQueries

/// A collector that gives the answers of a script, one after the other, and then accepts everything.
final class ScriptedCollector: Sendable {
    /// Returns the answer to a set.
    typealias Answer = @Sendable (_ set: TransactionSet) -> LoopbackServer.Response

    private struct State {
        var script: [Answer]
        var taken: [TransactionSet] = []
    }

    let server: LoopbackServer
    private let state: Locked<State>

    init(_ script: [Answer] = []) throws {
        let state = Locked(State(script: script))
        self.state = state
        server = try LoopbackServer { request in
            let isCompressed = request.header("Content-Encoding") == "gzip"
            guard let body = isCompressed ? gunzip(request.body) : Array(request.body),
                let set = try? TransactionSet.decode(body)
            else { return .text("The test cannot read the set.", status: 599) }
            let answer = state.withLock { $0.script.isEmpty ? nil : $0.script.removeFirst() }
            if let answer { return answer(set) }
            state.withLock { $0.taken.append(set) }
            return .verdicts(on: set)
        }
    }

    /// The number of requests it received.
    var requestCount: Int { server.requests.count }

    /// The sets that it accepted after its script had ended.
    var taken: [TransactionSet] { state.withLock { $0.taken } }

    /// The sequences of the accepted facts.
    var sequences: [Int64] { taken.flatMap { $0.sources.flatMap { $0.facts.map(\.sequence) } } }
}

extension LoopbackServer.Response {
    /// A receipt that accepts all facts of a set except those at the given indices.
    static func verdicts(
        on set: TransactionSet, rejecting indices: [Int] = [], headers: [(name: String, value: String)] = []
    ) -> LoopbackServer.Response {
        let rejections = indices.map { index in
            Receipt.Rejection(
                source: set.sources[0].source.id, sequence: set.sources[0].facts[index].sequence, index: index,
                reason: "Not this one.")
        }
        let receipt = Receipt(set: set.id, acceptedCount: set.factCount - rejections.count, rejections: rejections)
        return .init(headers: headers + [("Content-Type", Receipt.mediaType)], body: Data(receipt.encoded()))
    }
}

/// Returns the uncompressed data; `nil` if it is not gzip or is more than 16 MB.
func gunzip(_ data: Data) -> [UInt8]? {
    var stream = z_stream()
    // 31: only gzip (zlib.h, "inflateInit2").
    guard inflateInit2_(&stream, 31, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    var (input, output) = (Array(data), [UInt8](repeating: 0, count: 16 << 20))
    let status = input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(output.count)
            return inflate(&stream, Z_FINISH)
        }
    }
    return status == Z_STREAM_END ? Array(output[..<Int(stream.total_out)]) : nil
}
