public import Waybill
import WaybillCore

/// A test kit that checks whether a transport fulfills the requirements of delivery.
///
/// It sends sets that every collector accepts: small, large, odd, repeated and concurrent ones. Expect the findings to
/// be empty, with any testing library.
///
/// ## Usage
///
/// ```swift
/// let conformance = TransportConformance(transport, arrived: { try await queue.messages }, breakDown: { await queue.close() })
/// let findings = await conformance.findings()
/// XCTAssert(findings.isEmpty, "\(findings)")
/// ```
public struct TransportConformance: Sendable {
    /// A requirement that the transport violated.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// The requirement, in one sentence.
        public var rule: String
        /// The actual behavior.
        public var detail: String

        public var description: String { "\(rule) But: \(detail)" }
    }

    private let transport: any FlushTransport
    private let arrived: (@Sendable () async throws -> [[UInt8]])?
    private let breakDown: (@Sendable () async throws -> Void)?

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - transport: The transport to check. Its destination should be fresh, and is full of test facts afterwards.
    ///   - arrived: Returns the JSON bodies of all sets that have arrived; `nil` to skip that check.
    ///   - breakDown: Makes the destination unreachable for good; `nil` to skip that check.
    public init(
        _ transport: any FlushTransport, arrived: (@Sendable () async throws -> [[UInt8]])? = nil,
        breakDown: (@Sendable () async throws -> Void)? = nil
    ) {
        self.transport = transport
        self.arrived = arrived
        self.breakDown = breakDown
    }

    /// Runs all checks in sequence, and returns the violated requirements; empty if the transport conforms.
    public func findings() async -> [Finding] {
        var trial = Trial(transport)
        let sets = ConformanceSets()
        await trial.send(sets.small, "A small set is taken.")
        await trial.send(sets.small, "A set that is sent again is taken.")
        await trial.send(sets.again, "Facts that are sent again under another ID are taken, as known or as accepted.")
        await trial.send(sets.empty, "A set without facts is taken: it tells that a source has ended.")
        await trial.send(sets.odd, "Texts of all kinds are taken.")
        await trial.send(sets.large, "A set of 2,000 facts and half a megabyte is taken.")
        await trial.sendAtOnce(sets.several, "Sets that are sent at the same time get each their own receipt.")
        await trial.sendCancelled(sets.cancelled)
        if let arrived { await trial.compare(arrived) }
        if let breakDown { await trial.send(sets.late, after: breakDown) }
        return trial.findings
    }
}

private struct Trial {
    private(set) var findings: [TransportConformance.Finding] = []
    private var promised: [FactID: Fact] = [:]
    private let transport: any FlushTransport

    init(_ transport: any FlushTransport) { self.transport = transport }

    mutating func send(_ set: TransactionSet, _ rule: String) async {
        let (transport, outgoing) = (transport, OutgoingSet(set))
        do {
            check(try await transport.send(outgoing), of: set, rule)
        } catch {
            find(rule, "it failed: \(error)")
        }
    }

    mutating func sendAtOnce(_ sets: [TransactionSet], _ rule: String) async {
        let transport = transport
        let results = await withTaskGroup(of: (Int, Result<Receipt, any Error>).self) { group in
            for (index, set) in sets.enumerated() {
                let outgoing = OutgoingSet(set)
                group.addTask {
                    do { return (index, .success(try await transport.send(outgoing))) } catch {
                        return (index, .failure(error))
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for (index, result) in results.sorted(by: { $0.0 < $1.0 }) {
            switch result {
            case .success(let receipt): check(receipt, of: sets[index], rule)
            case .failure(let error): find(rule, "one failed: \(error)")
            }
        }
    }

    /// A cancelled task may throw. If it returns a receipt, the facts must have arrived.
    mutating func sendCancelled(_ set: TransactionSet) async {
        let (transport, outgoing) = (transport, OutgoingSet(set))
        let task = Task { try await transport.send(outgoing) }
        task.cancel()
        if case .success(let receipt) = await task.result {
            check(receipt, of: set, "A cancelled task fails, or gets the receipt of its set.")
        }
    }

    mutating func send(_ set: TransactionSet, after breakDown: @Sendable () async throws -> Void) async {
        let rule = "A set that cannot be handed over is a failure."
        do {
            try await breakDown()
        } catch {
            return find(rule, "the other side could not be broken down: \(error)")
        }
        if (try? await transport.send(OutgoingSet(set))) != nil { find(rule, "there was a receipt") }
    }

    mutating func compare(_ arrived: @Sendable () async throws -> [[UInt8]]) async {
        let rule = "What has a receipt has arrived, as it was sent."
        do {
            var facts: [FactID: Fact] = [:]
            for body in try await arrived() {
                for share in try TransactionSet.decode(body).sources {
                    for fact in share.facts { facts[FactID(source: share.source.id, sequence: fact.sequence)] = fact }
                }
            }
            let missing = promised.filter { facts[$0.key] != $0.value }
            if !missing.isEmpty {
                find(rule, "\(missing.count) facts of \(promised.count) are missing, or not the same")
            }
        } catch {
            find(rule, "what has arrived cannot be read: \(error)")
        }
    }

    private mutating func check(_ receipt: Receipt, of set: TransactionSet, _ rule: String) {
        if receipt.set != set.id { find("A receipt names the set that was sent.", "it named another one (\(rule))") }
        if receipt.factCount != set.factCount {
            find(
                "The counts of a receipt add up to the facts that were sent.",
                "they came to \(receipt.factCount), and \(set.factCount) were sent (\(rule))")
        }
        if !receipt.rejections.isEmpty {
            find("Facts without a fault are not rejected.", "\(receipt.rejections.count) were (\(rule))")
        }
        for share in set.sources {
            for fact in share.facts { promised[FactID(source: share.source.id, sequence: fact.sequence)] = fact }
        }
    }

    private mutating func find(_ rule: String, _ detail: String) {
        findings.append(TransportConformance.Finding(rule: rule, detail: detail))
    }
}

extension OutgoingSet {
    fileprivate init(_ set: TransactionSet) { self.init(id: set.id, body: set.encoded(), factCount: set.factCount) }
}
