/// How many transactions and exchanges may be open at once, in memory and in the journal that takes over from it.
package enum OpenLimit {
    /// What an app gets unless it says otherwise.
    package static let standard = 100_000
    /// The most that it can ask for: a segment of the journal counts its facts in 20 bits.
    package static let most = 500_000
}
