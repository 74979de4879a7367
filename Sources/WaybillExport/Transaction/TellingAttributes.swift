package import WaybillCore
package import WaybillReading

/// In which order a line of a list names attributes, so that what is cut off at its end is what matters least.
package struct TellingAttributes {
    /// Names under which not all have the same value.
    private let differing: Set<String>

    /// What is longer, as JSON is, would leave no room for others.
    private static let shortLength = 32

    /// - Parameter all: Attributes of each of those that are told apart.
    package init(_ all: [Attributes]) {
        let names = Set(all.flatMap(\.keys))
        differing = names.filter { name in Set(all.map { $0[name]?.description }).count > 1 }
    }

    /// `variant=B`, one for each: the long ones last, and of both kinds those that differ first; then by name.
    func sorted(_ attributes: Attributes) -> [String] {
        let texts = attributes.map {
            (name: $0.key, text: "\($0.key)=\($0.value)", isCommon: !differing.contains($0.key))
        }
        func isLong(_ text: String) -> Bool { text.utf8.count > Self.shortLength }
        return texts.sorted { one, other in
            if isLong(one.text) != isLong(other.text) { return isLong(other.text) }
            if one.isCommon != other.isCommon { return other.isCommon }
            return one.name < other.name
        }.map(\.text)
    }
}

extension TransactionSummary {
    /// Why it did not succeed, how its process ended, and what was said about it when it was begun.
    package var reason: String { reason(TellingAttributes([attributes])) }

    /// The same, what tells it from others first.
    package func reason(_ telling: TellingAttributes) -> String {
        ([endedBy?.phrase, error.map(Words.error)].compactMap(\.self) + telling.sorted(attributes)).joined(
            separator: " · ")
    }
}
