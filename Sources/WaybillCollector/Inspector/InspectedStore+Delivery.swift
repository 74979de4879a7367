#if Collector
import Hummingbird
import WaybillCore
import WaybillInspector
import WaybillReading
import WaybillStore

/// The page of delivery.
extension InspectedStore {
    /// What the collector that keeps a store has counted since it was started.
    struct Counted: Sendable {
        /// Of the project.
        var project: Counters
        /// Of requests that are no known project's.
        var unknown: Counters
    }

    private static let hourCount = 48
    /// Facts in the file of the quarantine.
    private static let quarantineLimit = 10_000

    func deliveryPage() async throws -> Response {
        let redactor = Redactor()
        let (state, names) = try await queries.read(TransactionQuery()) { reader, _, now in
            let conflicts = try reader.nameConflicts()
            let names = redactor.names(
                conflicts, useCases: conflicts.isEmpty ? [] : try reader.names().filter { $0.event == nil },
                starts: conflicts.isEmpty ? [:] : try reader.firstStarts())
            return (redactor.delivery(try reader.delivery(now: now, hours: Self.hourCount)), names)
        }
        return .page(DeliveryPage(state, collected: counters?.collected(redactor), names: names, in: frame).html)
    }

    func downloadDelivery(_ name: String) async throws -> Response {
        let bytes: [UInt8]
        switch (DeliveryFile(rawValue: name), counters) {
        case (.quarantine, _):
            let facts = try await queries.read { reader in try reader.quarantined(limit: Self.quarantineLimit) }
            bytes = QuarantineJSON.bytes(facts, redactor: Redactor())
        case (.rejections, let counters?):
            bytes = try Response.jsonBytes(counters.project.values.rejections.redacted(by: Redactor()))
        default: throw QueryFailure.notFound("There is no file “\(name)” here.")
        }
        return .download(bytes, type: "application/json", name: "waybill-\(name)")
    }
}

extension InspectedStore.Counted {
    fileprivate func collected(_ redactor: Redactor) -> DeliveryPage.Collected {
        let (values, others) = (project.values, unknown.values)
        let refusals = Refusal.allCases.map { (words: $0.words, count: (values.refusals[$0] ?? 0) + (others.refusals[$0] ?? 0)) }
        return DeliveryPage.Collected(
            begunMicroseconds: project.begunMicroseconds, accepted: values.acceptedFacts, known: values.knownFacts,
            rejected: values.rejectedFacts, failedSets: values.failedSets, refusals: refusals,
            rejections: values.rejections.redacted(by: redactor))
    }
}

extension Refusal {
    /// What was turned away, and why.
    fileprivate var words: String {
        switch self {
        case .noToken: "requests without a token"
        case .unknownToken: "requests with a token that nobody gave them"
        case .role: "requests whose token may not do that"
        case .rate: "requests beyond what a token may send"
        case .overload: "requests that there was no room for"
        case .store: "requests while the store could not be read or written"
        case .unfinishedErasure: "erasures that were not finished"
        }
    }
}
#endif
