public import Foundation
import WaybillCore
import WaybillStore

/// The location of a manager's store.
public struct StoreLocation: Sendable, Hashable {
    private enum Kind: Hashable { case standard, directory(URL, journals: URL?), appGroup(String), memory }
    private let kind: Kind

    /// The app's own container: Application Support on Apple platforms, Caches on tvOS, which the system may empty, and
    /// `$XDG_STATE_HOME/waybill/<process>` elsewhere.
    public static let `default` = StoreLocation(kind: .standard)

    /// Returns a folder as the location. It is created if needed, and its database is `waybill.sqlite`.
    ///
    /// By default, journals are beside the store, locked while their processes run. If processes that share the store
    /// may be suspended, give each its own `journals` folder, with the same name in every launch.
    public static func directory(_ url: URL, journals: URL? = nil) -> StoreLocation {
        StoreLocation(kind: .directory(url, journals: journals))
    }

    /// Returns the container of an app group on Apple platforms, and the default location elsewhere.
    ///
    /// The journal is in the process's own container. The store is closed after each use, and the system is asked not
    /// to suspend the process meanwhile. Otherwise, it would kill an app that holds a lock there (`0xdead10cc`).
    public static func appGroup(_ identifier: String) -> StoreLocation { StoreLocation(kind: .appGroup(identifier)) }

    /// Memory, which lasts as long as the manager.
    public static let inMemory = StoreLocation(kind: .memory)

    func resolved() -> (ResolvedLocation, [WaybillError]) {
        switch kind {
        case .memory:
            return (.memory(name: GUID().description), [])
        case .directory(let url, let journals):
            guard url.isFileURL, journals?.isFileURL != false else {
                return (
                    .memory(name: GUID().description),
                    [
                        WaybillError(
                            .setting, "The store's location must be a file URL; what is recorded stays in memory.")
                    ]
                )
            }
            return (.folder(url, own: journals), [])
        case .standard:
            return (.folder(Self.container.appending(path: ProcessInfo.processInfo.processName)), [])
        case .appGroup(let identifier):
            #if canImport(Darwin)
            if let url = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: identifier) {
                #if os(tvOS)
                // This is the only writable folder of a group's container.
                let shared = url.appending(path: "Library/Caches/Waybill")
                #else
                let shared = url.appending(path: "Waybill")
                #endif
                // Each extension has its own container. On a Mac without a sandbox, the process's name separates them.
                let own = Self.container.appending(path: "groups/\(identifier)/\(ProcessInfo.processInfo.processName)")
                return (.folder(shared, own: own), [])
            }
            #endif
            let problem = WaybillError(
                .setting, "There is no container for the app group “\(identifier)”; the default location is used.")
            let (place, problems) = Self.default.resolved()
            return (place, [problem] + problems)
        }
    }

    static var container: URL {
        #if os(tvOS)
        // A device only allows writing here and in the temporary folder; a simulator allows it anywhere.
        URL.cachesDirectory.appending(path: "Waybill")
        #elseif canImport(Darwin)
        URL.applicationSupportDirectory.appending(path: "Waybill")
        #else
        // XDG Base Directory Specification 0.8: state that survives a restart; relative paths are ignored.
        if let state = ProcessInfo.processInfo.environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            URL(filePath: state).appending(path: "waybill")
        } else {
            URL.homeDirectory.appending(path: ".local/state/waybill")
        }
        #endif
    }
}
