package import WaybillCore

/// Who leases for no process in particular: the sets that a session for the background has under way.
extension GUID {
    /// The same for the same name, in every launch.
    package static func ofNoProcess(named name: String) -> GUID {
        // FNV-1a: Swift's own hash is another one in each process.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return GUID(high: 0, low: hash)
    }

    /// Whether it stands for no process: what it has leased ends by a verdict or by time. No source has such an ID.
    var isOfNoProcess: Bool { high == 0 }
}
