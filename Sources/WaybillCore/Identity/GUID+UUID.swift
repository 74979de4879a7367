public import Foundation

extension GUID {
    /// The same 128 bits; of any version.
    public init(_ uuid: UUID) {
        self = withUnsafeBytes(of: uuid.uuid) { bytes in GUID(bytes: bytes) } ?? GUID(high: 0, low: 0)
    }
}

extension UUID {
    /// The same 128 bits.
    public init(_ guid: GUID) {
        self = guid.withBytes { bytes in UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) }
    }
}
