import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillInspector
import WaybillQueries
import WaybillStore
import WaybillTesting

/// The transactions of one user by day and session. Breaks when support reads a list that mixes devices and days.
@Suite(.timeLimit(.minutes(5))) struct SessionsPageTests {
    private static let day: Int64 = 86_400_000_000
    private static let installation = GUID(high: 1, low: 2)
    private let folder: TemporaryDirectory
    private let phone: ShareWriter
    private let tablet: ShareWriter

    /// Stores three logins of Ada on a phone and a tablet, on two days, one of them failed, and one login of another
    /// user.
    init() throws {
        folder = try TemporaryDirectory()
        let start = LoginHistory.begun - 3 * Self.day
        phone = ShareWriter(
            "shop", "2.0", device: "iPhone17,1", os: "iOS", "18.1", start: start,
            names: [RecordedName(useCase: 0, name: "login")])
        tablet = ShareWriter(
            "shop", "2.1", device: "iPad14,1", os: "iOS", "18.2", start: start,
            names: [RecordedName(useCase: 0, name: "login")])
        let error = RecordedError(domain: "LoginError", code: 401)
        for (writer, user, at, error) in [
            (phone, "ada", 0, nil), (phone, "ada", Self.day, error), (tablet, "ada", Self.day + 1_000_000, nil),
            (tablet, "bob", 2 * Self.day, error),
        ] as [(ShareWriter, String, Int64, RecordedError?)] {
            let part = writer.open(0, of: GUID(), at: at, ["user": .string(user)])
            writer.close(part, error == nil ? .succeeded : .failed, at: at + 500_000, error: error)
        }
        let store = try Store(.folder(folder.url))
        for writer in [phone, tablet] {
            let set = TransactionSet(id: GUID(), sources: [writer.share()])
            #expect(try store.ingest(set, receivedAt: LoginHistory.begun).rejections.isEmpty)
        }
    }

    private func page(_ path: String, status: Int = 200) async throws -> String {
        let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
        let response = await (try Inspector(file: folder.url)).respond(
            to: InspectorRequest(
                path: parts[0], query: parts.dropFirst().first ?? "",
                fields: ["host": "localhost", "cookie": "waybill_zone=UTC"]))
        #expect(response.status == status, "\(path)")
        guard case .bytes(let bytes) = response.body else { throw WaybillError(.format, "\(path) is no page.") }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func theTransactionsOfAUserAreGroupedByDayAndSession() async throws {
        let page = try await page("/sessions?filter=user%3Dada")
        #expect(page.contains("3 transactions") && page.contains("<dt>Sessions<dd>2"))
        let groups = page.matches(of: #/<h2><time[^\n]*/#).map { String($0.0) }
        #expect(groups.count == 3)
        #expect(groups[0].contains("shop 2.1</a> on iPad14,1, iOS 18.2: 1 transaction"))
        #expect(groups[1].contains("shop 2.0</a> on iPhone17,1, iOS 18.1: 1 transaction, <b class=bad>1 failed</b>"))
        #expect(!groups[2].contains("failed"))
        #expect(page.contains("LoginError 401</summary>") && page.contains("<dt>Failed<dd><a class=bad"))
        for value in ["shop", "2.0", "2.1", "iPhone17,1", "iPad14,1", "iOS", "18.1", "18.2"] {
            #expect(page.components(separatedBy: "<summary>\(value)</summary>").count == 2, "\(value)")
        }
        #expect(page.matches(of: #/<li id="t-/#).count == 3)
    }

    /// Breaks when the headings of the groups count only the rows of this page.
    @Test func headsCountWholeDaysWhateverThePageShows() async throws {
        let page = try await page("/sessions?filter=user%3Dada&limit=1")
        #expect(page.matches(of: #/<li id="t-/#).count == 1 && page.contains("3 transactions"))
        #expect(page.contains("rel=next"))
    }

    /// Breaks when a value of a page leads nowhere, or to transactions without it.
    @Test func everyValueOfATransactionLeadsToThoseWithItThoseWithoutItAndItsSessions() async throws {
        let list = try await page("/transactions?filter=user%3Dada%20sort:oldest")
        let id = try #require(list.firstMatch(of: #/<li id="t-([^"]+)"/#)).1
        let transaction = try await page("/transactions/\(id)")
        let menus = transaction.matches(of: #/<details class=value>.*?<\/details>/#).map { String($0.0) }
        for value in ["user=ada", "login", "succeeded", "shop", "2.0", "iPhone17,1", "iOS", "18.1"] {
            let menu = try #require(menus.first { $0.contains("<summary>\(value)</summary>") }, "\(value)")
            let links = menu.matches(of: #/href="\.\.\/([^"]+)"/#).map { $0.1.replacing("&amp;", with: "&") }
            #expect(links.count == 3, "\(value)")
            let (with, without) = (try await page("/\(links[0])"), try await page("/\(links[1])"))
            #expect(with.contains("\"t-\(id)\"") && !without.contains("\"t-\(id)\""), "\(value)")
            if value != "login" {
                #expect(try await page("/\(links[2])").contains("\"t-\(id)\""), "\(value)")
            }
        }
    }

    @Test func sessionsAndInstallationsAreFoundByTheirIDs() async throws {
        let list = try await page("/sessions?filter=source:\(phone.source.id)")
        #expect(list.contains("2 transactions") && list.contains("<h1>Session \(phone.source.id.supportCode)</h1>"))
        #expect(try await page("/transactions?filter=-source:\(phone.source.id)").contains("2 transactions"))
        #expect(try await page("/sessions?filter=installation:\(GUID())").contains("No transactions"))
        #expect(
            try await page("/sessions?filter=source:17", status: 400).contains("not an ID, which has 36 characters"))
    }

    /// Breaks when a click on a column heading sorts by another column, or drops the filter.
    @Test func headsSortAndKeepTheFilter() async throws {
        func links(_ page: String) -> [String] {
            page.matches(of: #/<a href="(\?[^"]*)"[^>]*>(?:Duration|Begun)/#).map { String($0.1) }
        }
        let newest = try await page("/transactions?filter=user%3Dada&outcome=succeeded")
        #expect(newest.contains("aria-current=true>Begun ↓"))
        #expect(
            links(newest) == [
                "?outcome=succeeded&amp;filter=user%3Dada%20sort%3Alongest",
                "?outcome=succeeded&amp;filter=user%3Dada%20sort%3Aoldest",
            ])
        let longest = try await page("/transactions?filter=user%3Dada%20sort:longest")
        #expect(longest.contains("aria-current=true>Duration ↓"))
        #expect(links(longest) == ["?filter=user%3Dada%20sort%3Ashortest", "?filter=user%3Dada"])
    }

    @Test func theListSaysHowManyTransactionsItHasAndWhatABarMeans() async throws {
        let page = try await page("/transactions?filter=user%3Dada")
        #expect(page.contains("<b data-fresh>3 transactions</b>"))
        #expect(page.contains("A full bar is 500.0 ms for login."))
        #expect(page.contains("<dt>user<dd class=values><details class=value><summary>ada</summary>"))
    }
}
