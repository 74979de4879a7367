/// What was found in some transactions, and can be put together with what was found in others.
///
/// It knows things by what they are called everywhere, by IDs, names and codes, and not by the numbers that one store
/// gives them: so what comes of one store can be put together with what comes of another.
package protocol Mergeable: Sendable {
    /// Takes over what was found in other transactions. In whatever order they are merged, the same answer comes of
    /// it.
    mutating func merge(_ other: consuming Self)
}

extension Dictionary where Value: Mergeable {
    /// Takes over the values of another one: under a key that both have, both together.
    mutating func merge(_ other: consuming Self) {
        for (key, value) in other {
            if let index = index(forKey: key) { values[index].merge(value) } else { self[key] = value }
        }
    }
}
