#if os(iOS) || os(macOS) || os(visionOS)
import Foundation
import TestSupport
import Testing
import Waybill
@testable import WaybillUI
import WebKit

/// The web view itself, on platforms that have one.
@Suite(.timeLimit(.minutes(5))) struct InspectorBrowserTests {
    /// Breaks when WebKit shows nothing of the handler's answer, or when the page's address is not that of the
    /// redirect.
    @MainActor @Test func theWebViewShowsTheManagersPages() async throws {
        let browser = InspectorBrowser(TransactionManager(store: .inMemory), hasControls: true)
        try await eventually("the page is loaded") { browser.view.title == "Transactions - Waybill" }
        #expect(browser.view.url?.absoluteString == "waybill://inspector/transactions")
    }

    /// Breaks when the policy of the pages blocks their own style and script, since `'self'` means another scheme.
    @MainActor @Test func whatIsRecordedComesIntoTheListByItself() async throws {
        let transactions = TransactionManager(store: .inMemory)
        let browser = InspectorBrowser(transactions, hasControls: true)
        try await eventually("the page is loaded") { browser.view.title == "Transactions - Waybill" }
        let login = transactions.begin(Login.self)
        defer { login.finish() }
        var text = ""
        try await eventually("the transaction is in the list") {
            browser.view.evaluateJavaScript("document.body.innerText") { found, _ in text = found as? String ?? "" }
            return text.contains("\(login.id.supportCode)")
        }
    }
}
#endif
