#if Collector
import Hummingbird
import WaybillCore
import WaybillLegacy

/// A set as a request carries it: its content type and coding are looked at first, then its bytes come in.
struct SetBody {
    private let body: IncomingBody
    /// Whether it is a set of version 0.0.1.
    let isLegacy: Bool

    /// - Throws: A `Problem` for another content type or coding, or a stated length beyond the limit: told before any
    ///   byte of it is read.
    init(_ request: Request, limits: CollectorLimits) throws(Problem) {
        isLegacy = LegacyMediaType.matches(request.headers[.contentType] ?? "")
        guard isLegacy || request.mediaType == TransactionSet.mediaType else {
            throw Problem.unsupported(request.headers[.contentType] ?? "", insteadOf: [TransactionSet.mediaType])
        }
        body = try IncomingBody(request, accept: [TransactionSet.mediaType], limits: limits)
    }

    /// The set's bytes, decompressed.
    func read(into room: SharedRoom.Reservation) async throws -> [UInt8] { try await body.read(into: room) }
}
#endif
