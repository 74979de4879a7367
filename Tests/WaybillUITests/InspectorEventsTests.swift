import Foundation
import TestSupport
import Testing
import Waybill
import WaybillInspector
import WaybillUI

/// How a page in a web view learns of new records, without a web view. `test_web_view.py` runs the page's scripts in
/// Chromium.
@Suite(.timeLimit(.minutes(5))) struct InspectorEventsTests {
    @MainActor private final class Page {
        var scripts: [String] = []
    }

    @MainActor @Test func aPageIsToldThatItsStreamIsOpenAndOfWhatChanges() async throws {
        let transactions = TransactionManager(store: .inMemory)
        transactions.begin(Login.self).finish()
        let page = Page()
        let following = Task { @MainActor in
            await InspectorEvents.follow(
                "waybill://inspector/live?version=0", of: Inspector(transactions)
            ) { page.scripts.append($0) }
        }
        try await eventually("the page is told of what changed since it was made") { page.scripts.count == 2 }
        #expect(page.scripts == ["EventSource.tell(\"open\")", "EventSource.tell(\"changed\")"])

        transactions.begin(Login.self).finish()
        try await eventually("the page is told of what is recorded later") { page.scripts.count == 3 }
        #expect(page.scripts.last == "EventSource.tell(\"changed\")")
        following.cancel()
        await following.value
        #expect(page.scripts.count == 3, "Who is cancelled is told nothing more.")
    }

    /// Breaks when a page believes that it follows a stream at an address that has none.
    @MainActor @Test(arguments: ["/transactions", "/nothing"]) func whatIsNoStreamIsBroken(address: String) async {
        let page = Page()
        await InspectorEvents.follow(
            "waybill://inspector\(address)", of: Inspector(TransactionManager(store: .inMemory))
        ) { page.scripts.append($0) }
        #expect(page.scripts == ["EventSource.tell(\"error\")"])
    }

    @MainActor @Test(arguments: ["", "http://["]) func whatIsNoAddressIsNotFollowed(address: String) async {
        let page = Page()
        await InspectorEvents.follow(address, of: Inspector(.disabled)) { page.scripts.append($0) }
        #expect(page.scripts.allSatisfy { $0 == "EventSource.tell(\"error\")" })
    }
}
