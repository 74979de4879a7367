import Foundation
package import WaybillCore

/// A file for its owner only, with the attributes to remember between launches and the salt of hashed user IDs.
package struct ContextFile: Sendable {
    package struct Content: Sendable, Equatable {
        package var attributes: Attributes
        /// `nil` until a user ID is hashed.
        package var salt: String?

        package init(attributes: Attributes = [:], salt: String? = nil) {
            self.attributes = attributes
            self.salt = salt
        }
    }

    /// The limits allow less, so a larger file is not ours.
    private static let byteLimit = 256 << 10

    private let file: URL

    package init?(beside place: ResolvedLocation) {
        guard let folder = place.folder else { return nil }
        file = folder.appending(path: "context.json")
    }

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

    /// Replaces the file; deletes it if there is nothing to remember.
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
