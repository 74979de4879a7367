public import Foundation
import WaybillCore
import WaybillStore

/// Where a manager keeps what it records.
public struct StoreLocation: Sendable, Hashable {
    private enum Kind: Hashable { case standard, directory(URL, journals: URL?), appGroup(String), memory }
    private let kind: Kind

    /// The app's own container: Application Support on Apple platforms, Caches on tvOS, which the system may empty;
    /// `$XDG_STATE_HOME/waybill/<process>` elsewhere.
    public static let `default` = StoreLocation(kind: .standard)

    /// A folder, which is made if it is missing. The database in it is called `waybill.sqlite`.
    ///
    /// - Parameters:
    ///   - url: The folder.
    ///   - journals: A folder of this process alone, for a store that other processes use as well, and that must not be
    ///     locked while one of them is suspended; nil, the default: journals lie beside the store, locked for as long as
    ///     their processes run. What is in this folder at the process's end is taken into the store by the next process
    ///     that names the same folder, so keep its name over launches.
    public static func directory(_ url: URL, journals: URL? = nil) -> StoreLocation {
        StoreLocation(kind: .directory(url, journals: journals))
    }

    /// The container that the apps of a group share (Apple platforms); elsewhere the default.
    ///
    /// The store lies there, and the journal in the process's own container. A store in a group is closed after each
    /// piece of work, and the system is asked not to suspend the process meanwhile, so that nothing there is locked by
    /// an app that does not run: the system would end it (`0xdead10cc`).
    public static func appGroup(_ identifier: String) -> StoreLocation { StoreLocation(kind: .appGroup(identifier)) }

    /// Memory; gone with the manager.
    public static let inMemory = StoreLocation(kind: .memory)

    /// The place, and what was wrong with the location.
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
                // Of a group's container, too, only this folder can be written to.
                let shared = url.appending(path: "Library/Caches/Waybill")
                #else
                let shared = url.appending(path: "Waybill")
                #endif
                // Each extension has a container of its own; on a Mac without a sandbox the process's name tells them
                // apart, and processes of one name by what each has locked.
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

    /// Where an app's own files go.
    static var container: URL {
        #if os(tvOS)
        // A device lets an app write here and into its temporary folder only; a simulator anywhere.
        URL.cachesDirectory.appending(path: "Waybill")
        #elseif canImport(Darwin)
        URL.applicationSupportDirectory.appending(path: "Waybill")
        #else
        // XDG Base Directory Specification 0.8: state that should survive a restart; a relative path is to be ignored.
        if let state = ProcessInfo.processInfo.environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            URL(filePath: state).appending(path: "waybill")
        } else {
            URL.homeDirectory.appending(path: ".local/state/waybill")
        }
        #endif
    }
}
