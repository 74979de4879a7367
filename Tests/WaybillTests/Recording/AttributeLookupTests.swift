import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import Waybill

/// A filter finds an attribute wherever it was recorded, and an empty result says where its name occurs.
@Suite(.timeLimit(.minutes(5))) struct AttributeLookupTests {
    /// Five logins, each with the word in another place.
    private func manager() -> TransactionManager {
        let transactions = TransactionManager.testing { options in
            options.diagnostics = { _ in }
            options.sourceAttributes = ["channel": "beta"]
        }
        transactions.begin(Login.self, attributes: ["user": "opened"]).finish()
        transactions.perform(Login.self) { $0.log(.requestSent, attributes: ["user": "event"]) }
        transactions.perform(Login.self) { $0.set("set", forKey: "user") }
        transactions.begin(Login.self).finish(attributes: ["user": "closed"])
        let login = transactions.begin(Login.self)
        transactions.context.set("context", forKey: "user")
        transactions.context.remove("user")
        login.finish()
        return transactions
    }

    private func found(_ filter: String, in transactions: TransactionManager) async throws -> Int {
        try await transactions.transactions(matching: filter).page().rows.count
    }

    /// Breaks when `attribute:` misses matches that a plain word finds, and leads a reader to believe that a user has
    /// no transactions.
    @Test(arguments: ["opened", "event", "set", "closed", "context"])
    func aFilterFindsItWhereverItWasSaid(place: String) async throws {
        let transactions = manager()
        #expect(try await found("attribute:user=\(place)", in: transactions) == 1)
        #expect(try await found(place, in: transactions) == 1, "as the word does")
        #expect(try await found("-attribute:user=\(place)", in: transactions) == 4)
        #expect(try await found("attribute:user", in: transactions) == 5, "also where it was removed")
        #expect(try await found("attribute:channel=beta", in: transactions) == 5, "of the source")
        #expect(try await found("attribute:channel=stable", in: transactions) == 0)
        #expect(try await found("attribute:User", in: transactions) == 0)
    }

    @Test func transactionsAreToldApartByWhatWasSaidLast() async throws {
        let transactions = manager()
        transactions.perform(Login.self, attributes: ["user": "first"]) { login in
            login.log(.requestSent, attributes: ["user": "second"])
            login.set("last", forKey: "user")
        }
        let filter = try await transactions.filter(parsing: "useCase:login")
        let answer = try await transactions.answer(DurationQuestion(filter: filter, segmentation: .attribute("user")))
        #expect(
            answer.segments.map { "\($0.value ?? "-")" } == ["-", "closed", "event", "last", "opened", "set"],
            "what was removed is none")
        let byChannel = try await transactions.answer(
            DurationQuestion(filter: filter, segmentation: .attribute("channel")))
        #expect(byChannel.segments.map(\.value) == ["beta"], "of the source, where nothing else says it")
        #expect(try await found("attribute:user=first", in: transactions) == 1, "a filter finds any value that it had")
    }

    @Test func whatIsNoEventIsInNoFunnelAndNoTransition() async throws {
        let transactions = TransactionManager.testing()
        transactions.perform(Login.self) { login in
            login.log(.initiated)
            login.set("u-1", forKey: "user")
            login.log(.requestSent)
        }
        let filter = try await transactions.filter(parsing: "useCase:login")
        let transitions = try await transactions.answer(TransitionsQuestion(filter: filter))
        #expect(transitions.transitions.map { "\($0.from) \($0.to)" }.sorted() == ["initiated requestSent"])
        let steps: [TransactionPoint] = [.event("initiated"), .event("requestSent")]
        let funnel = try await transactions.answer(FunnelQuestion(filter: filter, steps: steps, isStrict: true))
        #expect(funnel.total.steps.map(\.reached) == [1, 1], "nothing stands between the two")
        #expect(try await transactions.transactions().page().rows.map(\.eventCount) == [2])
        #expect(try await found("event:\"event -2\"", in: transactions) == 0)
    }

    /// Breaks when an empty list says only that it is empty.
    @Test func anEmptyListSaysWhereTheNameOccurs() async throws {
        let transactions = manager()
        func why(_ filter: String) async throws -> String? {
            try await transactions.transactions(matching: filter).page().whyEmpty
        }
        #expect(
            try await why("attribute:user=nobody")?.contains("There are user=closed (1), user=event (1)") == true)
        #expect(try await why("attribute:usr=x")?.contains("Nothing here has an attribute “usr”.") == true)
        #expect(
            try await why("outcome:succeeded,failed took>1h attribute:user")?.contains("attribute") == false,
            "what comes before lets none through")
        transactions.begin(Purchase.self).finish(.failed)
        #expect(
            try await why("useCase:purchase attribute:user")?.contains("Others have the attribute “user”.") == true)
        let failure = await #expect(throws: WaybillError.self) {
            try await transactions.answer(
                DurationQuestion(filter: TransactionFilter(), segmentation: .attribute("usr")))
        }
        #expect(failure?.message.contains("did you mean “user”?") == true)
    }
}
