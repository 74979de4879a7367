import Foundation
package import WaybillCore

/// Remembers, beside a store, whether recording was turned on or off: an empty file whose name says it, so that a
/// launch learns it by one `access(2)`, and which is renamed, so that it never says both.
package struct RecordingMark: Sendable {
    private let folder: URL

    /// - Returns: nil where there is no folder to remember it in.
    package init?(beside place: ResolvedLocation) {
        guard let folder = place.folder else { return nil }
        self.folder = folder
    }

    /// Whether recording was turned that way, and not the other way since.
    package func says(isOn: Bool) -> Bool { access(path(isOn), F_OK) == 0 }

    /// Remembers it; makes the folder where it is missing.
    package func set(isOn: Bool) throws(WaybillError) {
        try StoreFolder.make(folder)
        guard rename(path(!isOn), path(isOn)) != 0 else { return }
        let descriptor = DurableFile.openOwn(path(isOn), O_WRONLY | O_CREAT)
        guard descriptor >= 0 else {
            throw WaybillError(
                .store,
                "It cannot be remembered that recording is \(isOn ? "on" : "off"): \(path(isOn)) cannot be made.",
                cause: String(cString: strerror(errno)))
        }
        close(descriptor)
    }

    private func path(_ isOn: Bool) -> String {
        folder.appending(path: isOn ? "recording-on" : "recording-off").path(percentEncoded: false)
    }
}
