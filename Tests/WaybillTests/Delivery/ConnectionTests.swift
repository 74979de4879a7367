import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import Waybill

/// Connections that close unexpectedly.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionTests {
    private let set = OutgoingSet(id: GUID(), body: Array("{\"facts\":[1,2,3]}".utf8), factCount: 3)

    /// Breaks when a relay that hangs up costs half a minute each time: libcurl repeats a request if the connection had
    /// been used before, and swift-corelibs-foundation has no body for the repeat.
    @Test func aConnectionThatIsClosedAfterItWasUsedCostsNothing() async throws {
        let receipt = Receipt(set: set.id, acceptedCount: 3)
        let count = Locked(0)
        let server = try LoopbackServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number % 2 == 0
                ? .closed : .init(headers: [("Content-Type", Receipt.mediaType)], body: Data(receipt.encoded()))
        }
        let transport = URLSessionTransport(collector: server.url())
        for _ in 0..<6 { #expect(try await transport.send(set) == receipt) }
        #expect(server.requests.allSatisfy { $0.body == Data(set.body) })
    }
}
