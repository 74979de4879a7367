import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore
@testable import WaybillStoreTests

/// Several stores that each hold some of the transactions give the same answer as one store that holds all of them.
@Suite(.timeLimit(.minutes(10))) struct PartialAnswerTests {
    /// Breaks when a number that identifies something in one store means something else in another; when a match is
    /// counted twice or lost; or when a store with little or no matching data throws, or says why it is empty.
    @Test(arguments: seeds(2_000..<2_012)) func partialsGiveTheAnswerOfTheWhole(seed: Int) throws {
        var maker = HistoryMaker(seed: seed)
        maker.isSampling = maker.random.oneIn(2)
        var mixer = NetworkMixer(random: maker.random)
        let histories = mixer.mix(maker.histories())
        mixer.random = maker.random
        let ends = histories.flatMap { history in
            history.facts.map { $0.atMicroseconds + history.clocks[0].offsetMicroseconds }
        }
        let now = (ends.max() ?? 0) + 960_000 + Int64.random(in: 0...60_000, using: &mixer.random)
        let naive = NaiveAnswers(histories: histories, now: now)
        var filters = FilterMaker(random: mixer.random, naive: naive)
        let questions = filters.questions(naive) + filters.emptyQuestions()
        var split = SplitHistories(histories, random: filters.random)
        let whole = try split.store { _ in true }
        let stores = try split.stores(count: 3)
        for question in questions {
            let expected = Result { try question.answer(by: whole.reader, now: now) }
            let found = merged(question, stores.shuffled(), now)
            expectEqual(found, expected, "seed \(seed): \(question)")
            // The naive reference reports neither why an answer is empty nor how errors are worded.
            let reference = Result { try naive.answer(question).lines() }
            #expect((try? found.get().lines()) == (try? reference.get()), "seed \(seed): \(question)")
        }
    }

    /// Breaks when exchanges of other stores no longer help to tell how far apart the clocks of a client and a server
    /// are.
    @Test(arguments: seeds(2_200..<2_210)) func legsAreDividedByTheExchangesOfAllStores(seed: Int) throws {
        var network = SimulatedNetwork(seed: seed)
        for _ in 0..<20 { network.runTransaction(around: Int64.random(in: 0...1_000_000_000, using: &network.random)) }
        var split = SplitHistories(network.histories(), random: network.random)
        let whole = try split.store { _ in true }
        let stores = try split.stores(count: 4)
        let now: Int64 = 1_700_100_000_000_000
        let recent = TransactionFilter([.tookMoreThan(.microseconds(300_000))])
        for filter in [TransactionFilter(), recent] {
            let question = AnyQuestion.legs(LegsQuestion(filter: filter, segmentation: .appVersion))
            let expected = Result { try question.answer(by: whole.reader, now: now) }
            expectEqual(merged(question, stores, now), expected, "seed \(seed)")
            guard case .legs(_, let answer) = try expected.get(), filter == TransactionFilter() else { continue }
            #expect(answer.total.uncertainty.count > 0, "seed \(seed): nothing depended on others")
        }
    }

    /// Breaks when one store decides a question that takes the knowledge of all stores.
    @Test func aNameThatAnyStoreKnowsIsKnown() throws {
        let stores = try [("sent", "variant"), ("received", "region")].map { event, attribute in
            let writer = FactWriter()
            writer.names = [RecordedName(useCase: 0, event: 1, name: event)]
            let part = writer.open(GUID(), attributes: [attribute: "A"])
            writer.event(1, part: part)
            writer.close(part, .succeeded)
            let (store, place) = try Store.inMemory()
            try store.ingest(writer.set())
            return PartialStore(store: store, reader: try StoreReader(place))
        }
        let filter = TransactionFilter([.useCase(0)])
        func ask(_ question: AnyQuestion) -> Result<AnyAnswer, any Error> { merged(question, stores, 0) }
        let known = ask(.funnel(FunnelQuestion(filter: filter, steps: [.begun, .event("sent")])))
        guard case .funnel(_, let funnel) = try known.get() else { return }
        #expect(funnel.total.steps.map(\.reached) == [2, 1])
        let unknown = ask(.duration(DurationQuestion(filter: filter, from: .event("recieved"))))
        #expect(throws: WaybillError(.notFound, "No event here is called “recieved”: did you mean “received”?")) {
            try unknown.get()
        }
        let byVariant = ask(.duration(DurationQuestion(filter: filter, segmentation: .attribute("variant"))))
        guard case .duration(_, let durations) = try byVariant.get() else { return }
        #expect(durations.segments.map(\.value) == [nil, "A"])
        let byNothing = ask(.duration(DurationQuestion(filter: filter, segmentation: .attribute("regions"))))
        #expect(
            throws: WaybillError(.notFound, "No transaction here has an attribute “regions”: did you mean “region”?")
        ) { try byNothing.get() }
    }

    private func merged(
        _ question: AnyQuestion, _ stores: [PartialStore], _ now: Int64
    ) -> Result<AnyAnswer, any Error> {
        Result {
            var all = try question.partial(from: stores[0].reader, now: now)
            for store in stores.dropFirst() { try all.merge(question.partial(from: store.reader, now: now)) }
            return try all.answer()
        }
    }

    private func expectEqual(
        _ found: Result<AnyAnswer, any Error>, _ expected: Result<AnyAnswer, any Error>, _ comment: Comment
    ) {
        switch (found, expected) {
        case (.success(let found), .success(let expected)): #expect(found == expected, comment)
        case (.failure(let found), .failure(let expected)): #expect("\(found)" == "\(expected)", comment)
        case (.success, .failure(let error)): Issue.record("\(comment): the whole says \(error)")
        case (.failure(let error), .success): Issue.record("\(comment): the partials say \(error)")
        }
    }
}

/// A store and its reader.
struct PartialStore {
    let store: Store
    let reader: StoreReader
}

/// Histories that can be split: a transaction and its children stay in one store.
struct SplitHistories {
    private let histories: [SourceHistory]
    private var random: RandomNumbers
    /// A representative transaction for each member of a family.
    private var families: [GUID: GUID] = [:]

    init(_ histories: [SourceHistory], random: RandomNumbers) {
        (self.histories, self.random) = (histories, random)
        for case .opened(let opened) in histories.flatMap(\.facts).map(\.content) {
            let (id, other) = (family(of: opened.transaction), family(of: opened.parent ?? opened.transaction))
            for member in Array(families.keys) where families[member] == id { families[member] = other }
            families[opened.transaction] = other
            if let parent = opened.parent { families[parent] = other }
        }
    }

    private func family(of transaction: GUID) -> GUID { families[transaction] ?? transaction }

    /// Returns stores with randomly assigned families. Facts outside transactions are all in one random store.
    mutating func stores(count: Int) throws -> [PartialStore] {
        var places: [GUID?: Int] = [:]
        for family in Set(families.values).sorted() { places[family] = Int.random(in: 0..<count, using: &random) }
        places[nil] = Int.random(in: 0..<count, using: &random)
        return try (0..<count).map { number in try store { places[$0] == number } }
    }

    /// Returns a store with the chosen families: all sources with their clocks and names, but only the facts of these
    /// families.
    func store(of isMeant: (GUID?) -> Bool) throws -> PartialStore {
        let (store, place) = try Store.inMemory()
        for history in histories {
            var families: [Int64: GUID] = [:]
            for fact in history.facts {
                if case .opened(let opened) = fact.content { families[fact.part] = family(of: opened.transaction) }
            }
            let share = TransactionSet.Share(
                source: history.source, clocks: history.clocks, hasEnded: history.hasEnded, endedBy: history.endedBy,
                names: history.names, facts: history.facts.filter { isMeant(families[$0.part]) },
                sourceProof: IdentityProof("the secret of source \(history.source.id)"))
            try store.ingest(TransactionSet(id: GUID(), sources: [share]))
        }
        return PartialStore(store: store, reader: try StoreReader(place))
    }
}

extension FilterMaker {
    /// Returns questions that match nothing, for many reasons.
    fileprivate mutating func emptyQuestions() -> [AnyQuestion] {
        (0..<6).flatMap { _ -> [AnyQuestion] in
            var filter = filter()
            filter.conditions.append(condition())
            filter.conditions.append(.attribute("nobody", value: random.oneIn(2) ? nil : "x"))
            return [
                .summary(SummaryQuestion(filter: filter)), .dropOff(DropOffQuestion(filter: filter)),
                .legs(LegsQuestion(filter: filter)),
                .network(NetworkQuestion(filter: exchangeFilter(), transactions: nil)),
                .compare(
                    CompareQuestion(
                        filter: self.filter(),
                        groups: .values(of: .attribute("text"), "a\"\\ü", random.oneIn(2) ? nil : "b")
                    )),
            ]
        }
    }
}
