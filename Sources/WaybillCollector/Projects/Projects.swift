#if Collector
import Foundation
package import WaybillCore
package import WaybillExport
package import WaybillLegacy
package import WaybillQueries
package import WaybillSpans
import WaybillStore

#if ClickHouse
package import WaybillClickHouse
#endif

final class Projects: Sendable {
    private let make: @Sendable (ProjectName) throws(WaybillError) -> Project
    private let opened = Locked<[ProjectName: Project]>([:])
    /// Opening a store blocks, which the cooperative pool does not allow.
    private let opener = DispatchQueue(label: "waybill.projects")

    /// Opens the known projects at once, to report errors at the start. `make` may block.
    init(
        _ names: Set<ProjectName>, _ make: @escaping @Sendable (ProjectName) throws(WaybillError) -> Project
    ) throws(WaybillError) {
        self.make = make
        for name in names { _ = try open(name) }
    }

    func project(_ name: ProjectName) async throws(WaybillError) -> Project {
        if let project = opened(name) { return project }
        return try await withCheckedContinuation { continuation in
            opener.async { continuation.resume(returning: Result { () throws(WaybillError) in try self.open(name) }) }
        }.get()
    }

    func opened(_ name: ProjectName) -> Project? { opened.withLock { $0[name] } }

    var all: [Project] { opened.withLock { Array($0.values) } }

    private func open(_ name: ProjectName) throws(WaybillError) -> Project {
        if let project = opened(name) { return project }
        let project = try make(name)
        opened.withLock { $0[name] = project }
        return project
    }
}

final class Project: Sendable {
    let name: ProjectName
    let store: any ProjectStore
    let counters: Counters
    let samplingRates: ProjectSamplingRates
    let retirement: RetirementLimits
    let spanCursorFile: URL
    let budgetsFile: URL

    init(
        _ name: ProjectName, _ store: any ProjectStore, _ counters: Counters, in folder: URL, byteCount: Int64?,
        limits: CollectorLimits
    ) throws(WaybillError) {
        (self.name, self.store, self.counters) = (name, store, counters)
        samplingRates = try ProjectSamplingRates(limits.samplingRates)
        retirement = RetirementLimits(
            maximumAge: limits.maximumAge, maximumByteCount: byteCount, maximumTransactionCount: limits.transactionCount
        )
        spanCursorFile = folder.appending(path: "\(name).otlp-cursor")
        budgetsFile = folder.appending(path: "\(name).budgets")
    }

    convenience init(
        _ name: ProjectName, in folder: URL, limits: CollectorLimits, clock: any TransactionClock, _ host: HostHooks
    ) throws(WaybillError) {
        let counters = Counters(clock: clock)
        // A store that isn't the standard project's expects its folder. Opening it reports a failure.
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        var store = try SQLiteStore(
            making: name.description, in: folder, factsPerTransaction: limits.factsPerTransaction, clock: clock,
            hooks: host.hooks(of: name, limits.redactor, counters)
        ) {
            counters.count($0)
        }
        store.readLimit = limits.readDuration
        store.redactor = limits.redactor
        try self.init(name, store, counters, in: folder, byteCount: limits.storeByteCount, limits: limits)
    }
}

package struct ProjectName: Sendable, Hashable, CustomStringConvertible {
    package static let standard = ProjectName(text: "waybill")

    package let description: String

    /// Creates a name of 1 to 64 characters: a-z, 0-9 and -, not beginning with -. `nil` for any other text.
    package init?(_ text: String) {
        let isName =
            (1...64).contains(text.utf8.count) && !text.hasPrefix("-")
            && text.utf8.allSatisfy { $0.isSmallLetter || $0.isDigit || $0 == UInt8(ascii: "-") }
        guard isName else { return nil }
        self.init(text: text)
    }

    private init(text: String) { description = text }

    static func stored(in folder: URL) -> Set<ProjectName> {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        let stores = files.filter { $0.pathExtension == "sqlite" }
        return Set(stores.compactMap { Self($0.deletingPathExtension().lastPathComponent) })
    }
}

package protocol ProjectStore: BrowsableStore, ExportingStore {
    /// The key of the identity whose share limits the reads.
    var asker: String? { get set }

    /// Throws if the store can't be used.
    func check() async throws

    func add(_ request: TraceRequest, sentBy sender: String) async throws -> SpanVerdict

    /// Stores the facts of spans that waited too long for their parent span. Returns the number of facts.
    func settleWaitingSpans() async throws -> Int

    /// `digest`, the SHA-256 of the set, serves as the ID that sets of version 0.0.1 lack.
    func add(_ set: LegacySet, digest: [UInt8]) async throws -> Receipt
}

extension ProjectStore {
    func asked(by key: String?) -> any ProjectStore {
        var store = self
        store.asker = key
        return store
    }
}

extension SQLiteStore: ProjectStore {}

#if ClickHouse
extension ClickHouseStore: ProjectStore {
    package func add(_ request: TraceRequest, sentBy sender: String) async throws -> SpanVerdict {
        let (wall, redactor) = (clock.wallMicroseconds(), redactor)
        let (key, number) = try await spanWriter()
        let writer = SpanWriter(key: key, number: number)
        let places = request.places(sentBy: sender, by: writer, redactor: redactor)
        return try await write(besides: places.transactions, places.sources, at: wall) { store throws(WaybillError) in
            try store.book(request, sentBy: sender, by: writer, receivedAt: wall, redactor: redactor)
        }
    }

    package func settleWaitingSpans() async throws -> Int {
        let (wall, redactor) = (clock.wallMicroseconds(), redactor)
        var count = 0
        for place in try await waitingSpans(since: wall - Store.spanPatienceMicroseconds, limit: 500) {
            let (key, number) = try await spanWriter()
            let writer = SpanWriter(key: key, number: number)
            count += try await write(besides: [place.transaction], [place.source], at: wall) {
                store throws(WaybillError) in
                try store.settleSpans(
                    of: place.source, in: place.transaction, by: writer, at: wall, redactor: redactor)
            }
            endWait(at: place)
        }
        return count
    }

    package func add(_ set: LegacySet, digest: [UInt8]) async throws -> Receipt {
        let (wall, redactor) = (clock.wallMicroseconds(), redactor)
        if try await knowsLegacySet(digest, since: wall - Store.legacyMemoryMicroseconds) {
            return Receipt(set: GUID(), acceptedCount: 0, knownCount: set.factCount)
        }
        let source = legacySource
        let receipt = try await write(besides: Set(set.transactions.map(\.id)), [source], at: wall) {
            store throws(WaybillError) in
            try store.book(set, as: source, receivedAt: wall, redactor: redactor)
        }
        try await note(receipt, ofLegacySet: digest, at: wall)
        return receipt
    }
}
#endif

/// The sampling rates in a project's receipts: the configured rates, with names resolved to codes.
final class ProjectSamplingRates: Sendable {
    private static let codeLimit = 4

    private let byCode: [Int?: Double]
    private let byName: [String: Double]
    /// The codes of each name, from the store and later sets; `nil` if the store was not asked yet.
    private let codes = Locked<[String: Set<Int>]?>(nil)

    /// - Parameter rates: By code, by name, or `*` for all others.
    init(_ rates: [String: Double]) throws(WaybillError) {
        guard rates.count <= Limits.samplingRates else {
            throw WaybillError(
                .setting, "There are \(rates.count) sampling rates; at most \(Limits.samplingRates) can be set.")
        }
        var (byCode, byName): ([Int?: Double], [String: Double]) = ([:], [:])
        for (name, rate) in rates {
            guard SamplingRate(useCase: nil, share: rate) != nil else {
                throw WaybillError(.setting, "The sampling rate of “\(name)”, \(rate), is not between 0 and 1.")
            }
            if name == "*" {
                byCode[Int?.none] = rate
            } else if let code = Int(name), (0...Limits.largestCode).contains(code) {
                byCode[code] = rate
            } else {
                byName[name] = rate
            }
        }
        (self.byCode, self.byName) = (byCode, byName)
    }

    func rates(after set: TransactionSet, _ receipt: Receipt, in store: any ProjectStore) async -> [SamplingRate] {
        var rates = byCode
        for (code, rate) in await named(after: set, receipt, in: store) where rates[code] == nil { rates[code] = rate }
        let sorted = rates.compactMap { SamplingRate(useCase: $0.key, share: $0.value) }
            .sorted { $0.useCase ?? -1 < $1.useCase ?? -1 }
        return Array(sorted.prefix(Limits.samplingRates))
    }

    private func named(after set: TransactionSet, _ receipt: Receipt, in store: any ProjectStore) async -> [Int:
        Double]
    {
        guard !byName.isEmpty else { return [:] }
        let refused = Set(receipt.refusedSources.map(\.source))
        learn(set.sources.filter { !refused.contains($0.source.id) }.flatMap(\.names), isWhole: false)
        if codes.withLock({ $0 == nil }) {
            let names = Array(byName.keys)
            // If the store is too busy to answer, the next set asks again.
            if let known = try? await store.names(including: names) {
                learn(known, isWhole: true)
            }
        }
        return codes.withLock { codes in
            var rates: [Int: Double] = [:]
            for (name, codes) in codes ?? [:] {
                guard var rate = byName[name] else { continue }
                if codes.count > 1 {
                    // The name is ambiguous, and any client can reuse it. So it must not lower a rate.
                    guard let other = byCode[Int?.none] else { continue }
                    rate = max(rate, other)
                }
                for code in codes { rates[code] = max(rates[code] ?? 0, rate) }
            }
            return rates
        }
    }

    /// - Parameter isWhole: Whether `names` has all names of the store.
    private func learn(_ names: [RecordedName], isWhole: Bool) {
        codes.withLock { codes in
            guard isWhole || codes != nil else { return }
            var known = codes ?? [:]
            for name in names where name.event == nil && byName[name.name] != nil {
                if known[name.name, default: []].count < Self.codeLimit {
                    known[name.name, default: []].insert(name.useCase)
                }
            }
            codes = known
        }
    }
}
#endif
