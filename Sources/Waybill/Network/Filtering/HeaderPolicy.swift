import WaybillCore

/// Which header fields are kept, of requests and of responses.
///
/// It only takes away: what redaction hides (`Authorization`, `Cookie`, all that has a secret's name or shape) stays
/// hidden where the policy says ``Treatment/keep``.
public struct HeaderPolicy: Sendable, Hashable {
    /// What is done with a header field.
    public enum Treatment: Sendable, Hashable {
        /// It is recorded, redacted.
        case keep
        /// Nothing of it is recorded.
        case skip
        /// Its name is recorded, and that there was a value.
        case mask
    }

    /// What is done with the fields that have no treatment of their own. Default: they are kept.
    public var others: Treatment
    private let treatments: [String: Treatment]

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - treatments: By name, in any case; of two that differ in case only, the stricter one: skip, then mask.
    ///   - others: What is done with all other fields.
    public init(_ treatments: [String: Treatment] = [:], others: Treatment = .keep) {
        self.others = others
        self.treatments = Dictionary(treatments.map { ($0.key.lowercased(), $0.value) }) { one, other in
            if one == .skip || other == .skip { .skip } else if one == .mask || other == .mask { .mask } else { .keep }
        }
    }

    /// What is done with a field of this name, in any case.
    public func treatment(of name: String) -> Treatment {
        treatments.isEmpty ? others : treatments[name.lowercased()] ?? others
    }

    /// What is left of header fields, in their order, to be redacted.
    func applied(to fields: [Fact.HeaderField]) -> [Fact.HeaderField] {
        guard !treatments.isEmpty || others != .keep else { return fields }
        return fields.compactMap { field in
            switch treatment(of: field.name) {
            case .keep: field
            case .skip: nil
            case .mask: Fact.HeaderField(name: field.name, value: Redactor.placeholder)
            }
        }
    }
}
