import TestSupport
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillTesting

/// One history, played into a store and into the naive one.
struct StoreTrial {
    typealias Tried = any ExportingStore

    let seed: Int
    let store: Tried
    let reference: NaiveStore
    let script: StoreScript
    var random: RandomNumbers
    private(set) var step = 0
    /// The number of questions whose answers were compared.
    var questionCount = 0
    private let clock: ManualClock
    /// How often questions of each kind are asked after a step.
    let rounds: Int
    /// Each store's token for the previous comparison: a page's position, and an export's cursor.
    var positions, cursors: (expected: String, found: String)?

    /// - Parameter clock: The clock of both stores.
    init(seed: Int, store: Tried, clock: ManualClock, rounds: Int) {
        (self.seed, self.store, self.clock, self.rounds) = (seed, store, clock, rounds)
        reference = NaiveStore(clock: clock)
        script = StoreScript(seed: seed)
        random = script.random
    }

    mutating func run() async throws(StoreConformance.Finding) {
        for (number, step) in script.steps.enumerated() {
            self.step = number
            let now = script.time(of: number)
            clock.adjustWallClock(by: .microseconds(now - clock.wallMicroseconds()))
            switch step {
            case .add(let set): try await add(set, at: now)
            case .erase(let scope):
                try await play("erasing \(scope)", isForOperators: scope.isForOperators) { try await $0.erase(scope) }
            case .retire(let step):
                let limits = RetirementLimits(maximumAge: .microseconds(max(0, now - script.time(of: step))))
                try await play("retiring what is older than \(limits)", isForOperators: true) { store in
                    try await total { try await store.retire(limits) }
                }
            case .compare: try await compareAll()
            }
        }
    }

    // MARK: Steps

    private func add(_ set: TransactionSet, at time: Int64) async throws(StoreConformance.Finding) {
        let received = ReceivedSet(set: Redactor().redacted(set), atMicroseconds: time)
        let version = try? await (store as? any BrowsableStore)?.version()
        let receipt = try await compare("adding set \(set.id)") { store in
            var receipt = try await store.add(received)
            receipt.retryAfter = nil
            receipt.rejections.sort { ($0.source, $0.index) < ($1.source, $1.index) }
            for index in receipt.rejections.indices { receipt.rejections[index].reason = "" }
            receipt.refusedSources = receipt.refusedSources.map { RefusedSource(source: $0.source, reason: "") }
                .sorted { $0.source < $1.source }
            return receipt
        }
        guard let version, let store = store as? any BrowsableStore, receipt?.acceptedCount ?? 0 > 0 else { return }
        try await compare("whether adding set \(set.id) changed the version", true) {
            try await store.version() != version
        }
    }

    /// Plays a step into both stores, or into neither if the store leaves it to its operator.
    private func play<Value: Equatable>(
        _ call: String, isForOperators: Bool, _ step: (Tried) async throws -> Value
    ) async throws(StoreConformance.Finding) {
        let found = await result { try await step(store) }
        if isForOperators, case .failure(let error as WaybillError) = found, error.code == .setting { return }
        try compare(call, await result { try await step(reference) }, found)
    }

    /// Repeats a step until it does nothing, and returns the sum.
    private func total(_ step: () async throws -> Int) async throws -> Int {
        var total = 0
        for _ in 0..<10_000 {
            let count = try await step()
            total += count
            if count == 0 { return total }
        }
        throw WaybillError(.store, "The steps have no end.")
    }

    // MARK: Comparing

    /// Asks both stores, and throws the first difference. If both fail, that is no difference.
    ///
    /// - Returns: The answer of both; `nil` if both failed.
    @discardableResult
    func compare<Value: Equatable>(
        _ call: String, _ ask: (Tried) async throws -> Value
    ) async throws(StoreConformance.Finding) -> Value? {
        try compare(call, await result { try await ask(reference) }, await result { try await ask(store) })
    }

    /// Compares the store's answer with the expected one.
    func compare<Value: Equatable>(
        _ call: String, _ expected: @autoclosure () async throws -> Value, _ ask: () async throws -> Value
    ) async throws(StoreConformance.Finding) {
        try compare(call, await result(expected), await result(ask))
    }

    @discardableResult
    func compare<Value: Equatable>(
        _ call: String, _ expected: Result<Value, any Error>, _ found: Result<Value, any Error>
    ) throws(StoreConformance.Finding) -> Value? {
        switch (expected, found) {
        case (.success(let expected), .success(let found)):
            guard expected != found else { return found }
            throw finding(call, difference(expected, found))
        case (.success, .failure(let error)): throw finding(call, "it failed: \(error)")
        case (.failure(let error), .success): throw finding(call, "it should have failed: \(error)")
        case (.failure, .failure): return nil
        }
    }

    /// Returns each store's token for something, which neither may lack.
    func both(
        _ call: String, _ ask: (Tried) async throws -> String?
    ) async throws(StoreConformance.Finding) -> (expected: String, found: String) {
        do {
            guard let expected = try await ask(reference), let found = try await ask(store) else {
                throw WaybillError(.store, "There is none.")
            }
            return (expected, found)
        } catch { throw finding(call, "it failed: \(error)") }
    }

    private func result<Value>(_ ask: () async throws -> Value) async -> Result<Value, any Error> {
        do { return .success(try await ask()) } catch { return .failure(error) }
    }

    private func finding(_ call: String, _ detail: String) -> StoreConformance.Finding {
        StoreConformance.Finding(seed: seed, call: "step \(step), \(call)", detail: detail)
    }

    /// The first lines that only one of them has: unordered values have no first difference.
    private func difference<Value>(_ expected: Value, _ found: Value) -> String {
        func lines(_ value: Value) -> [String] {
            var text = ""
            dump(value, to: &text)
            return text.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }.map(String.init)
        }
        let (expected, found) = (lines(expected), lines(found))
        func only(_ lines: [String], _ others: [String]) -> String {
            let others = Set(others)
            return lines.filter { !others.contains($0) }.prefix(4).joined(separator: " ")
        }
        let (missing, surplus) = (only(expected, found), only(found, expected))
        if missing.isEmpty, surplus.isEmpty { return "it is in another order, or the number of equal things differs" }
        return "“\(missing)” was expected, and “\(surplus)” found"
    }
}

extension ErasureScope {
    /// Whether a store may leave it to its operator.
    fileprivate var isForOperators: Bool {
        switch self {
        case .all, .begunBefore, .networkLogs, .pending: true
        case .transactions, .installation: false
        }
    }
}
