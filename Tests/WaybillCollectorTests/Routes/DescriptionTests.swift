#if Collector
import Foundation
import TestSupport
import Testing
import WaybillQueries
import WaybillCollector
import WaybillCore

/// `Schemas/collector.openapi.yaml` describes the collector. An independent validator in CI checks that it is valid
/// OpenAPI.
@Suite(.timeLimit(.minutes(5))) struct DescriptionTests {
    private let lines: [Substring]

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Schemas/collector.openapi.yaml")
        lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test func itHasTheRoutesThatTheCollectorHas() {
        var path: Substring = ""
        var routes: [String] = []
        for line in section("paths") {
            if let match = line.wholeMatch(of: #/  (/\S+):/#) { path = match.1 }
            if let match = line.wholeMatch(of: #/    (get|put|post|patch|delete|head|options):/#) {
                routes.append("\(match.1.uppercased()) \(path)")
            }
        }
        #expect(routes.sorted() == Route.allCases.map(\.rawValue).sorted())
    }

    /// Reads each operation's security requirement line by line: its own, or the default one.
    @Test func itHasTheRoleOfEveryRoute() {
        var (path, route): (Substring, Substring) = ("", "")
        var roles: [Substring: Substring] = [:]
        for line in section("paths") {
            if let match = line.wholeMatch(of: #/  (/\S+):/#) { path = match.1 }
            if let match = line.wholeMatch(of: #/    (get|put|post|patch|delete|head|options):/#) {
                route = "\(match.1.uppercased()) \(path)"
                roles[route] = "read"
            }
            if line == "      security: []" { roles[route] = "none" }
            if let match = line.wholeMatch(of: #/        - token: \[(\w+)\]/#) { roles[route] = match.1 }
        }
        #expect(lines.contains("  - token: [read]"))
        for route in Route.allCases {
            #expect(roles[Substring(route.rawValue)].map(String.init) == route.role?.rawValue ?? "none")
        }
    }

    @Test func itHasTheParametersOfALists() {
        let names = section("paths").drop { $0 != "  /v1/transactions:" }.prefix { $0 != "    delete:" }
            .compactMap { $0.wholeMatch(of: #/        - name: (\w+)/#)?.1 }
        #expect(names.map(String.init) == ListRequest.Subject.transactions.parameters.map(\.rawValue))
    }

    @Test func itHasTheParametersOfAListOfExchanges() {
        let names = section("paths").drop { $0 != "  /v1/exchanges:" }.prefix { $0 != "  /v1/exchanges/{id}:" }
            .compactMap { $0.wholeMatch(of: #/        - name: (\w+)/#)?.1 }
        #expect(names.map(String.init) == ListRequest.Subject.exchanges.parameters.map(\.rawValue))
    }

    @Test func itHasTheParametersOfAListOfSources() {
        let names = section("paths").drop { $0 != "  /v1/sources:" }.dropFirst().prefix { !$0.hasPrefix("  /") }
            .compactMap { $0.wholeMatch(of: #/        - name: (\w+)/#)?.1 }
        #expect(names.map(String.init) == ListRequest.Subject.sources.parameters.map(\.rawValue))
    }

    @Test func itHasTheParametersOfAListOfNames() {
        let names = section("paths").drop { $0 != "  /v1/names:" }.dropFirst().prefix { !$0.hasPrefix("  /") }
            .compactMap { $0.wholeMatch(of: #/        - name: (\w+)/#)?.1 }
        #expect(names.map(String.init) == ListRequest.Subject.names.parameters.map(\.rawValue))
    }

    @Test func itHasTheConditionsOfAQuestion() {
        let names = section("paths").drop { $0 != "  /v1/answers:" }.prefix { $0 != "  /v1/sources:" }
            .compactMap { $0.wholeMatch(of: #/        - name: (\w+)/#)?.1 }
        let conditions = Set(ListRequest.Subject.exchanges.parameters.map(\.rawValue)).subtracting(["limit", "cursor"])
        #expect(Set(names.map(String.init)) == conditions.union(["filter"]))
    }

    @Test func itHasEveryQuestion() {
        for question in AnyQuestion.Word.allCases {
            #expect(
                lines.count { $0.hasPrefix("            question: { const: \(question.rawValue)") } == 2,
                "as question and as answer: \(question)")
        }
    }

    @Test func itNamesEveryMemberOfQuestionsAndAnswers() async throws {
        let folder = try TemporaryDirectory()
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            let login = LoginHistory()
            _ = try await server.post(login.clientSet())
            _ = try await server.post(login.serverSet())
            var members: Set<String> = []
            for question in [
                #"{"question":"summary","step_us":60000000,"is_certified":true}"#, #"{"question":"network"}"#,
                #"{"question":"duration","segmentation":"version","step_us":60000000}"#,
                #"{"question":"legs","segmentation":"day"}"#,
                #"{"question":"duration","occurrence":"first","segmentation":"variant","filter":{"outcomes":[],"conditions":["event:requestSent"],"order":"oldest"}}"#,
                #"{"question":"measure","attribute":"bytes","segmentation":"day"}"#,
                #"{"question":"transitions","filter":{"use_case":0}}"#,
                #"{"question":"funnel","steps":["^","$"],"is_strict":true,"window_us":1}"#,
                #"{"question":"dropoff","filter":{"use_case":0,"outcomes":["failed"]}}"#,
                #"{"question":"compare","groups":{"segmentation":"variant","a":"A","b":"B"}}"#,
                #"{"question":"errors","new_since_us":0,"order":"new","limit":5,"step_us":60000000}"#,
                #"{"question":"why","filter":{"use_case":0,"outcomes":["failed"]},"limit":5}"#,
            ] {
                collect(try JSONSerialization.jsonObject(with: Data(question.utf8)), into: &members)
                collect(try JSONSerialization.jsonObject(with: await server.ask(question).body), into: &members)
            }
            let described = Set(lines.compactMap { $0.firstMatch(of: #/^ +(\w+): /#).map { String($0.1) } } + nested)
            #expect(
                members.subtracting(described).subtracting(
                    TransactionOutcome.allCases.map(\.name) + ExchangeRecord.State.allCases.map(\.rawValue))
                    == [])
            #expect(members.count > 25)
        }
    }

    @Test func itHasTheStatesOfExchanges() {
        #expect(
            lines.contains("      enum: [\(ExchangeRecord.State.allCases.map(\.rawValue).joined(separator: ", "))]"))
    }

    @Test func itHasTheMediaTypesThatAreTakenAndGiven() {
        #expect(lines.contains("          \(TransactionSet.mediaType):"))
        #expect(lines.contains("            \(Receipt.mediaType):"))
    }

    @Test func itHasTheOutcomes() {
        #expect(lines.contains("      enum: [\(TransactionOutcome.allCases.map(\.name).joined(separator: ", "))]"))
    }

    @Test func itNamesEveryMemberOfTheAnswers() async throws {
        let folder = try TemporaryDirectory()
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            let login = LoginHistory()
            _ = try await server.post(login.clientSet(2...6))
            _ = try await server.post(login.clientSet())
            _ = try await server.post(login.serverSet())
            var members: Set<String> = []
            for path in [
                "/v1/transactions?limit=1", "/v1/ready", "/v1/transactions/\(login.transaction)",
                "/v1/exchanges?limit=1", "/v1/sources",
                "/v1/health", "/v1/names",
                "/v1/sources/x",
            ] {
                collect(try JSONSerialization.jsonObject(with: await server.get(path).body), into: &members)
            }
            members.remove("variant")  // an attribute's name
            let described = Set(lines.compactMap { $0.firstMatch(of: #/^ +(\w+): /#).map { String($0.1) } } + nested)
            #expect(members.subtracting(described) == [])
            #expect(members.count > 40)
        }
    }

    private var nested: [String] { lines.compactMap { $0.wholeMatch(of: #/ +(\w+):/#).map { String($0.1) } } }

    /// The lines below a key of the first column.
    private func section(_ key: String) -> ArraySlice<Substring> {
        let start = lines.drop { $0 != "\(key):" }.dropFirst()
        return start.prefix { $0.isEmpty || $0.hasPrefix(" ") }
    }

    private func collect(_ value: Any, into members: inout Set<String>) {
        if let object = value as? [String: Any] {
            members.formUnion(object.keys)
            for value in object.values { collect(value, into: &members) }
        } else if let array = value as? [Any] {
            for value in array { collect(value, into: &members) }
        }
    }
}
#endif
