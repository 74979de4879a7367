/// The header field that propagates a transaction: `Waybill-Transaction: "<guid>";u=17;s="<source>";n=42`.
///
/// The value is an Item of structured fields (RFC 9651). Received values are untrusted: they grant no access.
public struct TransactionHeader: Equatable, Sendable {
    /// The default name, `Waybill-Transaction`.
    public static let fieldName = "Waybill-Transaction"
    package static let lengthLimit = 512

    /// The transaction to join.
    public var transaction: GUID
    /// `u`: the code of the sender's use case, 0 to 10^15 - 1.
    public var useCase: Int
    /// `s`: the sender's source; `nil` if the field lacks it.
    public var source: GUID?
    /// `n`: the sequence of the sender's `exchange_opened` in `source`; `nil` if the exchange is not recorded.
    public var exchange: Int64?

    /// Creates a value to send. `exchange` is sent only together with `source`.
    public init(transaction: GUID, useCase: Int, source: GUID? = nil, exchange: Int64? = nil) {
        self.transaction = transaction
        self.useCase = useCase
        self.source = source
        self.exchange = exchange
    }

    /// Parses a field's value; `nil` if it is invalid.
    ///
    /// The string and `s` must be UUIDs. `u` is required, and `n` must be positive and requires `s`. Unknown parameters
    /// are ignored, and the last value of a repeated parameter wins.
    public init?(parsing value: String) {
        guard value.utf8.count <= Self.lengthLimit, var item = StructuredFieldItem(parsing: Array(value.utf8)),
            case .string(let text) = item.value, let transaction = GUID(text),
            case .integer(let number)? = item.parameters.removeValue(forKey: "u"), let useCase = Int(exactly: number),
            useCase >= 0
        else { return nil }
        self.init(transaction: transaction, useCase: useCase)

        if let told = item.parameters["s"] {
            guard case .string(let text) = told, let source = GUID(text) else { return nil }
            self.source = source
        }
        if let told = item.parameters["n"] {
            guard case .integer(let exchange) = told, exchange >= 1, source != nil else { return nil }
            self.exchange = exchange
        }
    }
}

extension TransactionHeader {
    package var cause: FactID? {
        guard let source, let exchange else { return nil }
        return FactID(source: source, sequence: exchange)
    }
}

extension TransactionHeader: CustomStringConvertible {
    /// The canonical form, as sent.
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
    /// The name and the form of the header field, in sent and received requests.
    ///
    /// ## Usage
    ///
    /// ```swift
    /// let transactions = TransactionManager { $0.header = .legacy(name: "fp-apptxn-id") }
    /// ```
    public struct Format: Equatable, Sendable {
        /// The field's name: a token (RFC 9110, section 5.6.2), compared without regard to case.
        public let name: String
        private let isLegacy: Bool

        /// Returns the form of ``TransactionHeader``: `"<guid>";u=17;s="<source>";n=42`.
        public static func standard(name: String = TransactionHeader.fieldName) -> Format {
            Format(name: name, isLegacy: false)
        }

        /// Returns the form of PEAppTransaction Logging (2015): `TXN17-586AB00B-F16E-4AE6-8A91-0210264925C7`.
        ///
        /// Use it while parts of a fleet still run that framework. Its form lacks the source and the exchange, so
        /// requests also carry `Waybill-Transaction`. Servers prefer that field if they receive both.
        ///
        /// - Parameter name: The name that the old manager uses, e.g. `apptxn-id`; not `Waybill-Transaction`.
        public static func legacy(name: String) -> Format { Format(name: name, isLegacy: true) }

        package var fieldNames: [String] { isLegacy ? [TransactionHeader.fieldName, name] : [name] }

        package var isAmbiguous: Bool { isLegacy && name.lowercased() == TransactionHeader.fieldName.lowercased() }

        package func fields(_ header: TransactionHeader) -> [String: String] {
            guard isLegacy else { return [name: header.description] }
            let old = LegacyID(transaction: header.transaction, useCase: header.useCase)
            return [TransactionHeader.fieldName: header.description, name: old.description]
        }

        /// Reads a received header, and returns whether any of its fields exists. `field` must ignore case.
        package func read(_ field: (String) -> String?) -> (header: TransactionHeader?, isThere: Bool) {
            let standard = field(isLegacy ? TransactionHeader.fieldName : name)
            let old = isLegacy ? field(name) : nil
            let header =
                standard.flatMap { TransactionHeader(parsing: $0) } ?? old.flatMap { TransactionHeader(legacy: $0) }
            return (header, standard != nil || old != nil)
        }
    }
}

/// The ID of the 2015 framework, `TXN17-586AB00B-F16E-4AE6-8A91-0210264925C7`: the use case's code and the GUID.
package struct LegacyID: Hashable, Sendable, CustomStringConvertible {
    package var transaction: GUID
    package var useCase: Int?

    package init(transaction: GUID, useCase: Int?) {
        self.transaction = transaction
        self.useCase = useCase
    }

    /// Parses an ID or a bare UUID, ignoring case; `nil` for other text.
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

    package var description: String {
        let uuid = transaction.description.uppercased()
        return useCase.map { "TXN\($0)-\(uuid)" } ?? uuid
    }
}

extension TransactionHeader {
    init?(legacy value: String) {
        guard value.utf8.count <= Self.lengthLimit, let id = LegacyID(value), let useCase = id.useCase else {
            return nil
        }
        self.init(transaction: id.transaction, useCase: useCase)
    }
}
