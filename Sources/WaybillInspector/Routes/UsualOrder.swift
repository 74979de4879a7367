/// The events that most of some transactions have, in the order in which most have them.
struct UsualOrder {
    let names: [String]

    /// As many as a funnel can be read with.
    private static let limit = 8

    /// - Parameter histories: For each transaction the names of its events in order.
    init(of histories: [[String]]) {
        var places: [String: [Int]] = [:]
        for history in histories {
            var seen: Set<String> = []
            for name in history where seen.insert(name).inserted { places[name, default: []].append(seen.count) }
        }
        let common = places.filter { 2 * $0.value.count > histories.count }
            .sorted { (-$0.value.count, $0.key) < (-$1.value.count, $1.key) }.prefix(Self.limit)
        names = common.map { (name: $0.key, place: $0.value.sorted()[$0.value.count / 2]) }
            .sorted { ($0.place, $0.name) < ($1.place, $1.name) }.map(\.name)
    }
}
