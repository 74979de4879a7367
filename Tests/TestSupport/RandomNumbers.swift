package import WaybillCore

/// Reproducible random numbers: SplitMix64 (Steele, Lea and Flood, 2014).
package struct RandomNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes the same numbers for the same seed, on any machine.
    package init(seed: Int) { state = UInt64(bitPattern: Int64(seed)) }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns `true` once in `count` times.
    package mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    /// An ID that no other part of the test has.
    package mutating func guid() -> GUID { GUID(high: next(), low: next()) }
}
