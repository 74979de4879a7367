import Foundation
import WaybillCore

/// A file that is locked for as long as a source runs: that tells the living from the dead, also after SIGKILL.
///
/// `flock`, never `fcntl`, whose locks are lost when any descriptor of the file is closed.
final class LifeMark {
    private let descriptor: Int32

    /// Sets the mark of a source; it goes with the process.
    init(of source: GUID, in folder: URL) throws(WaybillError) {
        let path = Self.path(of: source, in: folder)
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw WaybillError(
                .store, "\(path) cannot be made. Check the permissions of its folder.", cause: String(cString: strerror(errno)))
        }
        flock(descriptor, LOCK_SH | LOCK_NB)
    }

    deinit { close(descriptor) }

    /// Whether the source runs.
    static func isSet(for source: GUID, in folder: URL) -> Bool {
        let descriptor = open(path(of: source, in: folder), O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Removes what a dead source left.
    static func remove(of source: GUID, in folder: URL) { unlink(path(of: source, in: folder)) }

    private static func path(of source: GUID, in folder: URL) -> String {
        folder.appending(path: "running-\(source)").path(percentEncoded: false)
    }
}
