import WaybillCore

/// How often which error came.
struct ErrorCounts: Mergeable {
    private var counts: [RecordedError: (code: Int64, count: Int64)] = [:]

    /// - Parameter weight: For how many it stands, in millionths.
    mutating func add(_ error: RecordedError, _ weight: Int64) { add((error.code, weight), of: error.group) }

    private mutating func add(_ more: (code: Int64, count: Int64), of group: RecordedError) {
        let known = counts[group] ?? (more.code, 0)
        counts[group] = (min(known.code, more.code), known.count.addingWeight(more.count))
    }

    mutating func merge(_ other: consuming ErrorCounts) {
        for (group, more) in other.counts { add(more, of: group) }
    }

    /// The most frequent first.
    var sorted: [UseCaseSummary.ErrorCount] {
        counts.filter { $0.value.count > 0 }
            .map {
                .init(
                    domain: $0.key.domain, code: $0.value.code, name: $0.key.name, count: Weights.count($0.value.count))
            }
            .sorted {
                ($1.count, $0.domain, $0.name ?? "", $0.code) < ($0.count, $1.domain, $1.name ?? "", $1.code)
            }
    }
}
