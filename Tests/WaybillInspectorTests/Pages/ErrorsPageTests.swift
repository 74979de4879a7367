import Foundation
import TestSupport
import Testing
import Waybill
import WaybillInspector

private enum Login: Int, UseCase {
    static let code = 0
    case requestSent = 0
}

private enum LoginError: Error { case rejected, expired }

/// The page about errors in an app's own store. Breaks when it doesn't show which error is new, or which users it
/// affects.
@Suite(.timeLimit(.minutes(5))) struct ErrorsPageTests {
    private let transactions = TransactionManager(store: .inMemory)

    private func text(_ path: String, status: Int = 200) async throws -> String {
        let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
        let response = await Inspector(transactions).respond(
            to: InspectorRequest(path: parts[0], query: parts.dropFirst().first ?? ""))
        #expect(response.status == status, "\(path)")
        guard case .bytes(let bytes) = response.body else { throw WaybillError(.format, "\(path) is no page.") }
        return String(decoding: bytes, as: UTF8.self)
    }

    @discardableResult
    private func fail(_ error: LoginError, times: Int) -> [GUID] {
        (0..<times).map { _ in
            let login = transactions.begin(Login.self)
            login.finish(.failed, error: error)
            return login.id
        }
    }

    @Test func anErrorHasItsNumbersAndALinkToItsTransactions() async throws {
        let rejected = fail(.rejected, times: 3)
        let expired = fail(.expired, times: 1)
        transactions.begin(Login.self).finish()
        let page = try await text("/errors")
        #expect(page.contains("2 errors, a column for each"))
        #expect(page.contains("<td data-label=Count>3<td data-label=\"Of runs\">60.0 %"))
        #expect(page.contains("<b class=fresh>new</b>"))
        let link = try #require(page.firstMatch(of: #/href="(transactions\?filter=finishError[^"]*rejected)"/#)).1
        let list = try await text("/\(link.replacing("&amp;", with: "&"))")
        #expect(rejected.allSatisfy { list.contains("\($0.supportCode)") })
        #expect(expired.allSatisfy { !list.contains("\($0.supportCode)") })
    }

    /// Breaks when a column's link sorts by another column, or a mistake in an address leads to a page without a
    /// reason.
    @Test func linksSortAndMistakesHaveAReason() async throws {
        fail(.rejected, times: 2)
        fail(.expired, times: 1)
        #expect(try await text("/errors?since=24h").contains("href=\"?since=24h&amp;sort=last\""))
        for sort in ["count", "new", "last"] {
            let page = try await text("/errors?sort=\(sort)")
            #expect(page.matches(of: #/aria-sort=descending><a href="\?sort=(\w+)"/#).map { String($0.1) } == [sort])
        }
        #expect(try await text("/errors?sort=up", status: 400).contains("“up” is not an order of errors."))
        #expect(try await text("/errors?new_since=soon", status: 400).contains("“soon” is not a time."))
        #expect(try await text("/errors.csv").split(separator: "\r\n").count == 3)
    }

    @Test func aStoreWithoutErrorsSaysSo() async throws {
        transactions.begin(Login.self).finish()
        let page = try await text("/errors")
        #expect(page.contains("None of the 1 transaction that counts closed with an error."))
    }
}
