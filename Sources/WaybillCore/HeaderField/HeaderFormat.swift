/// Which header field carries the transaction, and in which form: what goes out with requests, and what is read of
/// those that come in.
///
/// ## Usage
///
/// ```swift
/// var options = TransactionManager.Options()
/// options.header = .legacy(name: "fp-apptxn-id")
/// ```
public struct HeaderFormat: Hashable, Sendable {
    private enum Form: Hashable, Sendable {
        case standard, legacy
    }

    /// The field's name: a token of RFC 9110, section 5.6.2, which is read in any case.
    public let name: String
    private let form: Form

    /// The form of ``TransactionHeader``: `"<guid>";u=17;s="<source>";n=42`.
    public static func standard(name: String = TransactionHeader.fieldName) -> HeaderFormat {
        HeaderFormat(name: name, form: .standard)
    }

    /// The form of the PEAppTransaction Logging Framework (2015), `TXN17-586AB00B-F16E-4AE6-8A91-0210264925C7`, for a
    /// fleet of which one half still uses it.
    ///
    /// That form tells neither the sender's source nor the exchange. So the field `Waybill-Transaction` goes out beside
    /// it, and wins where both come in: old and new halves understand each other, and new ones lose nothing among
    /// themselves. Other than by ``standard(name:)`` that field has its usual name.
    ///
    /// - Parameter name: As the old manager was told, e.g. `apptxn-id`; not `Waybill-Transaction`.
    public static func legacy(name: String) -> HeaderFormat { HeaderFormat(name: name, form: .legacy) }

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
