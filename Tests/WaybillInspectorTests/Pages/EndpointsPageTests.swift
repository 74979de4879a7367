import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore

@testable import WaybillExport
@testable import WaybillInspector
@testable import WaybillQueries

/// The list of endpoints and the page of one.
@Suite(.timeLimit(.minutes(5))) struct EndpointsPageTests {
    private let frame = InspectorFrame(store: "waybill", isLoggedIn: true, timeZone: .gmt)

    private static func statistics(_ values: [Int64]) -> DurationStatistics {
        var values = values
        return DurationStatistics(&values)
    }

    private func group(_ path: String, count: Int = 4, host: String = "api.example.com") -> NetworkGroup {
        let (first, last) = (LoginHistory.begun, LoginHistory.begun + 7_200_000_000)
        let times = Self.statistics([10_000, 20_000, 90_000])
        return NetworkGroup(
            role: .client, host: host, path: path, method: "GET", count: count,
            statuses: NetworkGroup.StatusCounts(), states: [.completed: 3, .failed: 1], failingCount: 1,
            timeoutCount: 1, errors: [], firstByte: times, succeeded: times,
            all: Self.statistics([10_000, 20_000, 90_000, 30_000_000]), whole: times,
            failed: Self.statistics([30_000_000]), sentByteCount: 1, receivedByteCount: 2_000,
            firstOpened: Date(microseconds: first), lastOpened: Date(microseconds: last),
            steps: [first, last].map {
                NetworkGroup.Step(
                    start: Date(microseconds: $0 / 900_000_000 * 900_000_000), count: 2, failingCount: 1,
                    succeeded: times)
            },
            slowest: [
                NetworkGroup.Example(
                    id: FactID(source: GUID(high: 1, low: 2), sequence: 3), transaction: GUID(high: 4, low: 5),
                    opened: Date(microseconds: first), duration: .seconds(30), status: nil,
                    error: RecordedError(domain: path, code: -1001, name: path))
            ], failing: [])
    }

    private func list(
        _ answer: NetworkAnswer, sort: NetworkQuestion.Sort = .count, _ items: [(name: String, value: String)] = []
    ) -> String {
        let question = NetworkQuestion(grouping: .method, sort: sort)
        return EndpointsPage(
            answer: unredacted(answer), question: question, frame: frame.at(items)
        ).html.text
    }

    private func page(_ group: NetworkGroup, _ items: [(name: String, value: String)] = []) -> String {
        let answer = NetworkAnswer(exchanges: group.count, groups: [group])
        var question = NetworkQuestion()
        question.stepMicroseconds = 900_000_000
        return EndpointPage(
            answer: unredacted(answer), question: question, frame: frame.at(items)
        ).html.text
    }

    @Test func whateverWasRecordedStaysTextOnThePagesOfEndpoints() {
        for name in HostileText.corpus {
            let group = group(name, host: name)
            let items = [("filter", name), ("sort", name), ("host", name), ("path", name)]
            for page in [list(NetworkAnswer(exchanges: 4, groups: [group]), sort: .p99, items), page(group, items)] {
                #expect(page.matches(of: #/<script/#).count == 1)
                #expect(page.matches(of: #/<(img|base|iframe|object|style|a href="(https|javascript))/#).isEmpty)
                #expect(!page.contains("<svg onload") && !page.contains("style=\""))
                #expect(page.matches(of: #/ on[a-z]+="/#).isEmpty)
                #expect(!page.contains("&lt;td&gt;") && !page.contains("&lt;section"))
                #expect(!page.contains("\u{202E}"))
            }
        }
    }

    /// Breaks when a reader can't find the slowest endpoint, or a link drops the conditions.
    @Test func everyColumnSortsAndEveryRowLeadsToItsEndpoint() {
        let answer = NetworkAnswer(
            exchanges: 11, groups: [group("/users/{id}")], other: [group("(other)", count: 7, host: "")])
        let page = list(answer, sort: .p99, [("since", "7d"), ("sort", "p99")])
        for sort in NetworkQuestion.Sort.allCases where sort != .count {
            #expect(
                page.contains("href=\"?since=7d&amp;sort=\(sort.rawValue)\"")
                    || page.contains("href=\"?since=7d&sort=\(sort.rawValue)\""))
        }
        #expect(page.contains("<th scope=col aria-sort=descending><a") && page.matches(of: #/aria-sort/#).count == 1)
        #expect(page.contains("endpoint?role=client") && page.contains("path=%2Fusers%2F%7Bid%7D"))
        #expect(page.contains("Besides these 1, (other) counts 7 exchanges"))
        #expect(page.matches(of: #/href="endpoint\?/#).count == 1, "The sum of the others has no page.")
    }

    @Test func anEndpointShowsItsTrendAndItsSlowestRequests() {
        let page = page(group("/users/{id}"), [("role", "client"), ("since", "7d")])
        #expect(page.contains("p50 and p95 of successes over time, in ms"))
        #expect(page.contains("href=\"transactions/\(GUID(high: 4, low: 5))\""))
        #expect(page.contains("href=\"endpoints?since=7d\""))
        #expect(page.contains("30.00 s") && page.contains("Timeouts"))
    }

    /// Breaks when a store with one wrong clock makes a chart of a million columns, or ends the process.
    @Test(arguments: [0, Int64.min, -5, 7], [0, 3, 3_599_000_000, Int64.max])
    func aTrendHasFewColumns(first: Int64, last: Int64) {
        let step = TimeSteps.step(for: min(first, last)...max(first, last), within: TimeSteps.lengthsOfPercentiles)
        #expect(step >= 60_000_000)
        let columnCount: Double = (Double(last) - Double(first)) / Double(step)
        #expect(columnCount <= 2 * 72)
    }

    /// Breaks when the page of an endpoint covers other requests than its row in the list.
    @Test func theListLeadsToPagesOfTheSameRequests() async throws {
        let (folder, login) = (try TemporaryDirectory(), LoginHistory())
        let store = try Store(.folder(folder.url))
        for set in [login.clientSet(), login.serverSet()] {
            _ = try store.ingest(set, receivedAt: LoginHistory.begun + 60_000_000)
        }
        let inspector = try Inspector(file: folder.url)
        func text(_ path: String, _ query: String = "", status: Int = 200) async throws -> String {
            let response = await inspector.respond(
                to: InspectorRequest(path: path, query: query, fields: ["host": "localhost"]))
            #expect(response.status == status, "\(path)?\(query)")
            guard case .bytes(let bytes) = response.body else { throw WaybillError(.format, "No page.") }
            return String(decoding: bytes, as: UTF8.self)
        }
        let list = try await text("/endpoints", "sort=name")
        let links = list.matches(of: #/href="endpoint\?([^"]+)"/#).map { String($0.1).replacing("&amp;", with: "&") }
        #expect(!links.isEmpty)
        for link in links {
            let page = try await text("/endpoint", link)
            #expect(page.contains("Slowest requests") && page.contains("href=\"transactions/\(login.transaction)\""))
        }
        #expect(try await text("/endpoints.csv").hasPrefix("role,host,path,method,count,"))
        #expect(try await text("/endpoints", "sort=age", status: 400).contains("no column to sort by"))
        #expect(try await text("/endpoint", "role=client&path=/nowhere").contains("No requests"))
        _ = try await text("/endpoint", status: 400)
    }
}
