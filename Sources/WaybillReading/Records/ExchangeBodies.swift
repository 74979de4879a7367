public import WaybillCore
package import WaybillStore

/// What was kept of the two bodies of an exchange.
public struct ExchangeBodies: Sendable, Hashable {
    /// nil where nothing is known of one.
    public var request: ExchangeBody?
    /// nil where nothing is known of one.
    public var response: ExchangeBody?

    /// None, unless told otherwise.
    public init(request: ExchangeBody? = nil, response: ExchangeBody? = nil) {
        self.request = request
        self.response = response
    }
}

extension StoreReader {
    /// What this store kept of the bodies of an exchange.
    package func bodies(of exchange: Fact.ID) throws(WaybillError) -> ExchangeBodies {
        ExchangeBodies(request: try body(of: exchange, .request), response: try body(of: exchange, .response))
    }

    /// What this store kept of the bodies of exchanges, of the first of them until there are enough.
    ///
    /// - Parameter limit: Bytes.
    package func bodies(
        of exchanges: [Fact.ID], limit: Int
    ) throws(WaybillError) -> (bodies: [Fact.ID: ExchangeBodies], isCut: Bool) {
        var bodies: [Fact.ID: ExchangeBodies] = [:]
        var rest = limit
        for exchange in exchanges {
            let found = try self.bodies(of: exchange)
            guard found != ExchangeBodies() else { continue }
            rest -= (found.request?.bytes.count ?? 0) + (found.response?.bytes.count ?? 0)
            guard rest >= 0 else { return (bodies, true) }
            bodies[exchange] = found
        }
        return (bodies, false)
    }
}

extension ExchangeBody {
    /// Whether there is something to show: bytes, or that the whole body is empty.
    package var isKept: Bool { !bytes.isEmpty || isWhole }

    /// What was kept, as text; nil for what is not UTF-8.
    package var text: String? { String(utf8: bytes) }
}
