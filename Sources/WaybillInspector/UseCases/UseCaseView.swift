/// Which question a page of a use case asks; one page asks one, since each of them may read every event of a million
/// transactions.
package enum UseCaseView: String, CaseIterable, Sendable {
    /// How often it was run, how it ended over time, which errors it gave, how long it took.
    case overview = ""
    case duration, funnel
    case dropOff = "dropoff"
    case legs, compare

    /// In the navigation.
    var title: String {
        switch self {
        case .overview: "Overview"
        case .duration: "Duration"
        case .funnel: "Funnel"
        case .dropOff: "Drop-off"
        case .legs: "Legs"
        case .compare: "Compare"
        }
    }

    /// What its question understands besides the conditions, in the order of its form.
    package var parameters: [String] {
        switch self {
        case .overview, .dropOff, .legs: []
        case .duration: ["from", "to", "last"]
        case .funnel: ["step", "within", "strict"]
        case .compare: ["by", "a", "b", "from", "to", "last"]
        }
    }

    /// How many components the path of its page has.
    var depth: Int { self == .overview ? 2 : 3 }
}
