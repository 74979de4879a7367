import WaybillCore

/// A resource as a source: the same one whenever it sends, under the same token, to the same store.
///
/// Its ID is made of what names the resource, the token, and a secret of the store. So nobody can say beforehand what it
/// will be, and who has another token cannot speak as that service.
struct SpanSource {
    let recorded: RecordedSource
    let proof: IdentityProof?

    /// - Parameters:
    ///   - sender: The token's ID; empty where there are no tokens.
    ///   - key: The store's secret.
    init(_ resource: Attributes, sentBy sender: String, key: [UInt8], redactor: Redactor) {
        let names = ["service.namespace", "service.name", "service.instance.id"]
        // The three together name one instance of a service; what has none is told apart by all that it says.
        let identity =
            resource.text("service.instance.id") == nil
            ? resource.map { "\($0.key)=\($0.value)" }.sorted() : names.map { resource.text($0) ?? "" }
        var message = key
        for text in [sender] + identity {
            message += Array("\(text.utf8.count):".utf8) + Array(text.utf8)
        }
        let id = SHA256.hash(message).withUnsafeBytes { GUID(bytes: UnsafeRawBufferPointer(rebasing: $0[..<16])) }
        var source = RecordedSource(id: id ?? GUID(high: 0, low: 0))
        source.app = redactor.label(resource.text("service.name") ?? "unknown_service")
        source.appVersion = redactor.label(resource.text("service.version") ?? "")
        source.device = redactor.label(resource.text("device.model.identifier", "host.arch") ?? "")
        source.os = redactor.label(resource.text("os.name", "os.type") ?? "")
        source.osVersion = redactor.label(resource.text("os.version") ?? "")
        let told: Set = [
            "service.name", "service.version", "device.model.identifier", "host.arch", "os.name", "os.type",
            "os.version",
        ]
        source.attributes = redactor.attributes(resource.filter { !told.contains($0.key) }).0
        recorded = source
        proof = Self.proof(of: source.id, key: key)
    }

    /// What shows that it is this store which records for a source: nobody else's set can name it.
    static func proof(of source: GUID, key: [UInt8]) -> IdentityProof? {
        let digest = SHA256.hash(key + Array(source.description.utf8))
        return IdentityProof(digest.map { String($0, radix: 16) }.joined())
    }
}
