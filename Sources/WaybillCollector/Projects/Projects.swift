#if Collector
import Foundation
package import WaybillCore
package import WaybillExport
package import WaybillLegacy
package import WaybillQueries
package import WaybillSpans

#if ClickHouse
package import WaybillClickHouse
#endif

/// The projects of a collector, opened when they are first asked for.
final class Projects: Sendable {
    private let make: @Sendable (ProjectName) throws(WaybillError) -> Project
    private let opened = Locked<[ProjectName: Project]>([:])
    /// Opening takes file work, which is not for the cooperative pool.
    private let opener = DispatchQueue(label: "waybill.projects")

    /// Opens those that are known from the start, so that what is wrong with them is told at once.
    ///
    /// - Parameter make: Opens one; may block.
    init(
        _ names: Set<ProjectName>, _ make: @escaping @Sendable (ProjectName) throws(WaybillError) -> Project
    ) throws(WaybillError) {
        self.make = make
        for name in names { _ = try open(name) }
    }

    /// The project of that name.
    func project(_ name: ProjectName) async throws(WaybillError) -> Project {
        if let project = opened(name) { return project }
        return try await withCheckedContinuation { continuation in
            opener.async { continuation.resume(returning: Result { () throws(WaybillError) in try self.open(name) }) }
        }.get()
    }

    /// The project of that name; nil where nothing was asked of it since the start.
    func opened(_ name: ProjectName) -> Project? { opened.withLock { $0[name] } }

    /// Those that are open.
    var all: [Project] { opened.withLock { Array($0.values) } }

    private func open(_ name: ProjectName) throws(WaybillError) -> Project {
        if let project = opened(name) { return project }
        let project = try make(name)
        opened.withLock { $0[name] = project }
        return project
    }
}

/// A project of a collector: a store of its own, and what was counted of it.
final class Project: Sendable {
    let name: ProjectName
    let store: any ProjectStore
    let counters: Counters
    let samplingRates: ProjectSamplingRates
    /// What of it may be kept.
    let retirement: RetirementLimits
    /// Says up to where a tracing backend has taken everything.
    let spanCursorFile: URL

    /// - Parameters:
    ///   - counters: What the store's commits are counted by.
    ///   - folder: Of what the collector itself keeps.
    ///   - byteCount: What the store may take; nil: that is not the collector's to say.
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
    }

    /// Opens the store in a folder, and makes it where it is missing; blocks until it is done.
    convenience init(_ name: ProjectName, in folder: URL, limits: CollectorLimits, clock: any TransactionClock)
        throws(WaybillError)
    {
        let counters = Counters(clock: clock)
        var store = try SQLiteStore(
            making: name.description, in: folder, factsPerTransaction: limits.factsPerTransaction, clock: clock
        ) {
            counters.count($0)
        }
        store.readLimit = limits.readDuration
        store.redactor = limits.redactor
        try self.init(name, store, counters, in: folder, byteCount: limits.storeByteCount, limits: limits)
    }
}

/// The name of a project, which is also that of its store's file in the collector's folder.
package struct ProjectName: Sendable, Hashable, CustomStringConvertible {
    /// The project that is meant where none is named: `waybill`, whose file `waybill.sqlite` is what the folder as a
    /// STORE means.
    package static let standard = ProjectName(text: "waybill")

    package let description: String

    /// Takes a name; nil unless it is 1 to 64 of a-z, 0-9 and - and begins with a letter or a digit: a file's name on
    /// every system.
    package init?(_ text: String) {
        let isName =
            (1...64).contains(text.utf8.count) && !text.hasPrefix("-")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        guard isName else { return nil }
        self.init(text: text)
    }

    private init(text: String) { description = text }
}

/// A store that a collector keeps a project in: one in its folder, or in a database that other collectors use, too.
package protocol ProjectStore: ExplorableStore, ExportingStore {
    /// The same, as one token reads it, by its ID: of what reads, each has its share.
    func asked(by token: String?) -> any ProjectStore

    /// Whether sets can be taken in; throws where not.
    func checkWriting() async throws

    /// The names that were recorded, those of these words at least.
    func names(including words: [String]) async throws -> [RecordedName]

    /// Takes in spans that came by OTLP.
    ///
    /// - Parameter sender: The ID of the token that they came with; empty where there is none.
    func add(_ request: TraceRequest, sentBy sender: String) async throws -> SpanVerdict

    /// Gives spans that have waited too long for the one that they are below a part of their own; how many facts came
    /// of it.
    func settleWaitingSpans() async throws -> Int

    /// Takes in a set of version 0.0.1.
    ///
    /// - Parameter digest: SHA-256 of its bytes, which stand for the ID that it has not.
    func add(_ set: LegacySet, digest: [UInt8]) async throws -> Receipt
}

extension SQLiteStore: ProjectStore {
    package func asked(by token: String?) -> any ProjectStore {
        var store = self
        store.asker = token
        return store
    }

    package func names(including words: [String]) async throws -> [RecordedName] {
        try await read { reader in try reader.names(including: words) }
    }
}

#if ClickHouse
/// What numbers its facts by what came before needs one writer, and is a folder's.
extension ClickHouseStore: ProjectStore {
    package func asked(by token: String?) -> any ProjectStore {
        var store = self
        store.asker = token
        return store
    }

    package func add(_ request: TraceRequest, sentBy sender: String) async throws -> SpanVerdict {
        throw Problem.onlyInFolder("Spans by OTLP are")
    }

    package func settleWaitingSpans() async throws -> Int { 0 }

    package func add(_ set: LegacySet, digest: [UInt8]) async throws -> Receipt {
        throw Problem.onlyInFolder("Sets of version 0.0.1 are")
    }
}
#endif

/// The sampling rates that the receipts of a project hand out: as they were set, with the codes of the use cases that
/// were named.
final class ProjectSamplingRates: Sendable {
    /// So many codes of one name are told apart.
    private static let codeLimit = 4

    private let byCode: [Int?: Double]
    private let byName: [String: Double]
    /// What was called so in the store or since; nil: the store was not asked yet.
    private let codes = Locked<[String: Set<Int>]?>(nil)

    /// - Parameter rates: By code, by name, or for all others (`*`).
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

    /// What the receipt of a set hands out.
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
            // Where the store is too busy to say, the next set asks again.
            if let known = try? await store.names(including: names) {
                learn(known, isWhole: true)
            }
        }
        return codes.withLock { codes in
            var rates: [Int: Double] = [:]
            for (name, codes) in codes ?? [:] {
                guard var rate = byName[name] else { continue }
                if codes.count > 1 {
                    // Nobody can say which is meant, and anybody may give the name to another one: that keeps nothing
                    // from being delivered that would be without the name.
                    guard let other = byCode[Int?.none] else { continue }
                    rate = max(rate, other)
                }
                for code in codes { rates[code] = max(rates[code] ?? 0, rate) }
            }
            return rates
        }
    }

    /// - Parameter isWhole: Whether they are all that the store has.
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
