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
    package var cause: FactID? {
        guard let source, let exchange else { return nil }
        return FactID(source: source, sequence: exchange)
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

extension TransactionHeader {
    /// Which header field carries the transaction, and in which form: what goes out with requests, and what is read of
    /// those that come in.
    ///
    /// ## Usage
    ///
    /// ```swift
    /// var options = TransactionManager.Options()
    /// options.header = .legacy(name: "fp-apptxn-id")
    /// ```
    public struct Format: Hashable, Sendable {
        private enum Form: Hashable, Sendable {
            case standard, legacy
        }

        /// The field's name: a token of RFC 9110, section 5.6.2, which is read in any case.
        public let name: String
        private let form: Form

        /// The form of ``TransactionHeader``: `"<guid>";u=17;s="<source>";n=42`.
        public static func standard(name: String = TransactionHeader.fieldName) -> Format {
            Format(name: name, form: .standard)
        }

        /// The form of the PEAppTransaction Logging Framework (2015), `TXN17-586AB00B-F16E-4AE6-8A91-0210264925C7`, for a
        /// fleet of which one half still uses it.
        ///
        /// That form tells neither the sender's source nor the exchange. So the field `Waybill-Transaction` goes out beside
        /// it, and wins where both come in: old and new halves understand each other, and new ones lose nothing among
        /// themselves. Other than by ``standard(name:)`` that field has its usual name.
        ///
        /// - Parameter name: As the old manager was told, e.g. `apptxn-id`; not `Waybill-Transaction`.
        public static func legacy(name: String) -> Format { Format(name: name, form: .legacy) }

        /// All fields that carry a transaction; the one that tells more is the first.
        package var fieldNames: [String] {
            switch form {
            case .standard: [name]
            case .legacy: [TransactionHeader.fieldName, name]
            }
        }

        /// Whether both forms would stand in one field.
        package var isAmbiguous: Bool {
            switch form {
            case .standard: false
            case .legacy: name.lowercased() == TransactionHeader.fieldName.lowercased()
            }
        }

        /// The fields to send, by name.
        package func fields(_ header: TransactionHeader) -> [String: String] {
            switch form {
            case .standard: [name: header.description]
            case .legacy: [TransactionHeader.fieldName: header.description, name: header.legacyDescription]
            }
        }

        /// Reads what came in.
        ///
        /// - Parameter field: Looks up a header field by name, in any case; nil where it is absent.
        /// - Returns: The header; nil where no field has a value that can be read. Whether there was such a field at all.
        package func read(_ field: (String) -> String?) -> (header: TransactionHeader?, isThere: Bool) {
            let standard: String?
            var old: String?
            switch form {
            case .standard: standard = field(name)
            case .legacy: (standard, old) = (field(TransactionHeader.fieldName), field(name))
            }
            let header =
                standard.flatMap { TransactionHeader(parsing: $0) } ?? old.flatMap { TransactionHeader(legacy: $0) }
            return (header, standard != nil || old != nil)
        }
    }
}

/// The ID that the first framework gave a transaction: `TXN17-586AB00B-F16E-4AE6-8A91-0210264925C7`, the use case's
/// code and a UUID.
///
/// Sets and header fields of that framework carry the same ID, so that both lead to the transaction whose GUID is the
/// UUID.
package struct LegacyID: Hashable, Sendable, CustomStringConvertible {
    package var transaction: GUID
    /// nil where only the UUID was given.
    package var useCase: Int?

    package init(transaction: GUID, useCase: Int?) {
        self.transaction = transaction
        self.useCase = useCase
    }

    /// Reads an ID in any case; also the UUID alone. nil for anything else.
    package init?(_ text: String) {
        guard let transaction = GUID(text.suffix(36)) else { return nil }
        self.transaction = transaction
        let head = text.dropLast(36)
        if head.isEmpty { return }
        guard head.lowercased().hasPrefix("txn"), head.last == "-", let useCase = Int(head.dropFirst(3).dropLast()),
            (0...Limits.largestCode).contains(useCase)
        else { return nil }
        self.useCase = useCase
    }

    /// As that framework wrote it.
    package var description: String {
        let uuid = transaction.description.uppercased()
        return useCase.map { "TXN\($0)-\(uuid)" } ?? uuid
    }
}

extension TransactionHeader {
    /// Reads the value that clients of the first framework send: an ``LegacyID`` with its use case. It tells neither
    /// source nor exchange.
    init?(legacy value: String) {
        guard value.utf8.count <= Self.lengthLimit, let id = LegacyID(value), let useCase = id.useCase else {
            return nil
        }
        self.init(transaction: id.transaction, useCase: useCase)
    }

    /// The value that servers of the first framework read.
    var legacyDescription: String { LegacyID(transaction: transaction, useCase: useCase).description }
}
