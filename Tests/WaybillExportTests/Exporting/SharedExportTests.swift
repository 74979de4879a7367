#if os(Linux)
import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore

@testable import WaybillExport
@testable import WaybillQueries

private enum Login: Int, UseCase {
    static let code = 0
    case initiated = 0
}

/// A store shared by several processes. The system may suspend any of them.
@Suite(.timeLimit(.minutes(5))) struct SharedExportTests {
    /// Breaks when the system ends an app that it suspends while the receiver of an export pauses.
    @Test func anExportThatPausesLocksNothingInTheSharedFolder() async throws {
        let folder = try TemporaryDirectory()
        let shared = folder.file("shared")
        let transactions = TransactionManager(store: .directory(shared, journals: folder.file("own")))
        transactions.begin(Login.self).finish()
        let store = try #require(try await transactions.store())
        let stream = try await store.export(.of(ListRequest()), as: .ndjson)
        try await eventually("no file is locked") { try FileLocks.held(by: getpid(), in: shared).isEmpty }
        var bytes: [UInt8] = []
        while let piece = try await stream.next() { bytes += piece.bytes }
        #expect(bytes.split(separator: 0x0A).count == 2)
    }
}
#endif
