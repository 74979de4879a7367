package import WaybillCore

extension GUID {
    /// Whether it is among one in so many, by its last four bytes, which are random in every version of a UUID.
    ///
    /// - Parameter count: From 1 to 1,000,000. What is among one in a hundred is also among one in ten.
    package func isOne(in count: Int) -> Bool { low & 0xFFFF_FFFF < Self.bound(oneIn: count) }

    /// The last four bytes of those that are stay below this, in hexadecimal digits; where that is all, it is longer.
    package static func sampleBound(oneIn count: Int) -> String {
        let digits = String(bound(oneIn: count), radix: 16, uppercase: true)
        return count <= 1 ? "FFFFFFFF00" : String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static func bound(oneIn count: Int) -> UInt64 { (1 << 32) / UInt64(max(1, count)) }
}

extension ListFilter {
    /// Of how many transactions it lets one through, where it takes a sample of them; 1: of each.
    package var sampledOneIn: Int { conditions.reduce(1) { max($0, $1.sampledOneIn) } }
}

extension FilterCondition {
    fileprivate var sampledOneIn: Int {
        guard case .oneIn(let count) = self else { return 1 }
        return count
    }
}
