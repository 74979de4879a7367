public import Foundation
import WaybillCore
import WaybillStore

#if os(macOS)
import Security
#endif

/// The location of a manager's store.
public struct StoreLocation: Sendable, Equatable {
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
    /// The journal is in the process's own container. <doc:AppleExtensions> explains how processes share the store.
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
            return (.folder(url, own: journals), Self.problems(of: url, journals))
        case .standard:
            let name = ProcessInfo.processInfo.processName
            let folder = Self.container.appending(path: name)
            #if os(watchOS)
            // The container of an extension on a watch may be a part of its app's.
            if Bundle.main.bundlePath.hasSuffix(".appex") {
                return (.folder(folder, own: Self.container.appending(path: "journals/\(name)")), [])
            }
            #endif
            return (.folder(folder), [])
        case .appGroup(let identifier):
            if let shared = Self.sharedFolder(of: identifier) {
                // Each extension has its own container. On a Mac without a sandbox, the process's name separates them.
                let own = Self.container.appending(path: "groups/\(identifier)/\(ProcessInfo.processInfo.processName)")
                return (.folder(shared, own: own), [])
            }
            let problem = WaybillError(
                .setting,
                "There is no container for the app group “\(identifier)”; the default location is used. Add the group to the "
                    + "target's App Groups capability.")
            let (place, problems) = Self.default.resolved()
            return (place, [problem] + problems)
        }
    }

    /// The system kills a suspended process with a locked file in the container of a group, as a journal is.
    private static func problems(of folder: URL, _ journals: URL?) -> [WaybillError] {
        guard ResolvedLocation.isInGroupContainer((journals ?? folder).path(percentEncoded: false)) else { return [] }
        return [
            WaybillError(
                .setting,
                "The store's journals are in an app group's container, so the system may end this app when it suspends it. "
                    + "Use `.appGroup`, or name a folder for `journals` in the app's own container.")
        ]
    }

    /// Returns a folder in the container of an app group; `nil` without the group, and on platforms without groups.
    static func sharedFolder(of group: String) -> URL? {
        #if canImport(Darwin)
        guard isEntitled(to: group),
            let url = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group)
        else { return nil }
        #if os(tvOS)
        // This is the only writable folder of a group's container.
        return url.appending(path: "Library/Caches/Waybill")
        #else
        return url.appending(path: "Waybill")
        #endif
        #else
        return nil
        #endif
    }

    #if os(macOS)
    /// macOS returns a URL for any identifier.
    private static func isEntitled(to group: String) -> Bool {
        guard let task = SecTaskCreateFromSelf(nil) else { return false }
        let groups = SecTaskCopyValueForEntitlement(task, "com.apple.security.application-groups" as CFString, nil)
        return (groups as? [String])?.contains(group) == true
    }
    #elseif canImport(Darwin)
    private static func isEntitled(to group: String) -> Bool { true }
    #endif

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
