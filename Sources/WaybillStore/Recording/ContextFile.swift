import Foundation
package import WaybillCore

/// What an app has set for the transactions that follow and wants to be remembered, beside its store: a small file that
/// only its owner may read. It holds the salt of hashed user IDs, too.
package struct ContextFile: Sendable {
    package struct Content: Sendable, Equatable {
        /// Redacted.
        package var attributes: Attributes
        /// nil: no user ID was hashed yet.
        package var salt: String?

        package init(attributes: Attributes = [:], salt: String? = nil) {
            self.attributes = attributes
            self.salt = salt
        }
    }

    /// More than what the limits allow comes from somebody else.
    private static let byteLimit = 256 << 10

    private let file: URL

    /// - Returns: nil where there is no folder to remember it in.
    package init?(beside place: ResolvedLocation) {
        guard let folder = place.folder else { return nil }
        file = folder.appending(path: "context.json")
    }

    /// What it says; nothing where there is none, or it cannot be read.
    package func read() -> Content {
        let descriptor = DurableFile.openOwn(file.path(percentEncoded: false), O_RDONLY)
        guard descriptor >= 0 else { return Content() }
        defer { close(descriptor) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        guard let data = try? handle.read(upToCount: Self.byteLimit) else { return Content() }
        var content = Content()
        do throws(JSONFailure) {
            try JSONReader.read([UInt8](data)) { reader throws(JSONFailure) in
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    switch key {
                    case "attributes": content.attributes = try reader.attributes()
                    case "salt": content.salt = try reader.string(limit: Limits.labelLength)
                    default: try reader.skipValue()
                    }
                }
            }
        } catch {
            return Content()
        }
        return content
    }

    /// Writes it anew; removes it where there is nothing to say.
    package func write(_ content: Content) throws(WaybillError) {
        let path = file.path(percentEncoded: false)
        guard content != Content() else {
            unlink(path)
            return
        }
        try StoreFolder.make(file.deletingLastPathComponent())
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("attributes", content.attributes)
        writer.member("salt", content.salt)
        writer.endObject()
        let temporary = "\(path).new"
        unlink(temporary)
        let descriptor = DurableFile.openOwn(temporary, O_WRONLY | O_CREAT | O_EXCL)
        do {
            try DurableFile.check(descriptor)
            defer { close(descriptor) }
            try DurableFile.write(writer.bytes, to: descriptor)
            try DurableFile.rename(temporary, to: file)
        } catch {
            unlink(temporary)
            throw WaybillError(
                .store, "The context cannot be remembered: \(path) cannot be written.",
                cause: error.localizedDescription)
        }
    }
}
