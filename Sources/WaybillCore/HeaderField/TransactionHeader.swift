/// The header field that carries a transaction from one process to the next:
/// `Waybill-Transaction: "<guid>";u=17;s="<source>";n=42`.
///
/// An Item of structured fields (RFC 9651): a string, because a token may not start with a digit, with parameters. What
/// comes in is untrusted: it says where to record, and grants nothing.
public struct TransactionHeader: Hashable, Sendable {
    /// `Waybill-Transaction`, unless the manager was given another name.
    public static let fieldName = "Waybill-Transaction"
    /// Bytes of a value that are looked at; a longer one is malformed.
    package static let lengthLimit = 512

    /// The transaction to join.
    public var transaction: GUID
    /// `u`: the code of the use case by the sender's account, 0 to 10^15 - 1.
    public var useCase: Int
    /// `s`: the sender's source; nil where it did not tell.
    public var source: GUID?
    /// `n`: the sequence of the sender's `exchange_opened`, in `source`; nil where no exchange is recorded.
    public var exchange: Int64?

    /// Makes a value to send; `exchange` is sent only with a source.
    public init(transaction: GUID, useCase: Int, source: GUID? = nil, exchange: Int64? = nil) {
        self.transaction = transaction
        self.useCase = useCase
        self.source = source
        self.exchange = exchange
    }

    /// Reads a field's value; nil unless it is an Item whose string is a UUID, with `u` from 0 up, `s` a UUID if it is
    /// there, and `n` from 1 up and only beside `s`. Parameters that are not known are ignored; of one that comes twice
    /// the last counts.
    public init?(parsing value: String) {
        guard value.utf8.count <= Self.lengthLimit, var item = StructuredFieldItem(parsing: Array(value.utf8)),
            case .string(let text) = item.value, let transaction = GUID(text),
            case .integer(let number)? = item.parameters.removeValue(forKey: "u"), let useCase = Int(exactly: number),
            useCase >= 0
        else { return nil }
        self.init(transaction: transaction, useCase: useCase)

        switch item.parameters["s"] {
        case nil: break
        case .string(let text)?:
            guard let source = GUID(text) else { return nil }
            self.source = source
        default: return nil
        }
        switch item.parameters["n"] {
        case nil: break
        case .integer(let exchange)?:
            guard exchange >= 1, source != nil else { return nil }
            self.exchange = exchange
        default: return nil
        }
    }
}

extension TransactionHeader {
    /// The exchange that carries it; nil where the sender did not tell.
    package var cause: Fact.ID? {
        guard let source, let exchange else { return nil }
        return Fact.ID(source: source, sequence: exchange)
    }
}

extension TransactionHeader: CustomStringConvertible {
    /// The canonical form, to be sent.
    public var description: String {
        var value = "\"\(transaction)\";u=\(useCase)"
        if let source {
            value += ";s=\"\(source)\""
            if let exchange { value += ";n=\(exchange)" }
        }
        return value
    }
}
