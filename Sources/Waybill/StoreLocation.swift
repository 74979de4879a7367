public import Foundation
import WaybillCore
import WaybillStore

/// Where a manager keeps what it records.
public struct StoreLocation: Sendable, Hashable {
    private enum Kind: Hashable { case standard, directory(URL), appGroup(String), memory }
    private let kind: Kind

    /// The app's own container: Application Support on Apple platforms, Caches on tvOS, which the system may empty;
    /// `$XDG_STATE_HOME/waybill/<process>` elsewhere.
    public static let `default` = StoreLocation(kind: .standard)

    /// A folder, which is made if it is missing. The database in it is called `waybill.sqlite`.
    public static func directory(_ url: URL) -> StoreLocation { StoreLocation(kind: .directory(url)) }

    /// The container that the apps of a group share (Apple platforms); elsewhere the default.
    ///
    /// For Macs only: elsewhere the system ends an app that it suspends, because a source locks its journal, which lies
    /// there, for as long as it runs.
    public static func appGroup(_ identifier: String) -> StoreLocation { StoreLocation(kind: .appGroup(identifier)) }

    /// Memory; gone with the manager.
    public static let inMemory = StoreLocation(kind: .memory)

    /// The place, and what was wrong with the location.
    func resolved() -> (ResolvedLocation, [WaybillError]) {
        switch kind {
        case .memory:
            return (.memory(name: GUID().description), [])
        case .directory(let url):
            guard url.isFileURL else {
                return (
                    .memory(name: GUID().description),
                    [
                        WaybillError(
                            .setting, "The store's location must be a file URL; what is recorded stays in memory.")
                    ]
                )
            }
            return (.folder(url), [])
        case .standard:
            return (.folder(Self.container.appending(path: ProcessInfo.processInfo.processName)), [])
        case .appGroup(let identifier):
            #if canImport(Darwin)
            if let url = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: identifier) {
                #if os(macOS) || targetEnvironment(macCatalyst)
                return (.folder(url.appending(path: "Waybill")), [])
                #else
                let problem = WaybillError(
                    .setting,
                    "The system ends an app that it suspends with a store in the container of an app group; use the default location."
                )
                #if os(tvOS)
                // Of a group's container, too, only this folder can be written to.
                return (.folder(url.appending(path: "Library/Caches/Waybill")), [problem])
                #else
                return (.folder(url.appending(path: "Waybill")), [problem])
                #endif
                #endif
            }
            #endif
            let problem = WaybillError(
                .setting, "There is no container for the app group “\(identifier)”; the default location is used.")
            let (place, problems) = Self.default.resolved()
            return (place, [problem] + problems)
        }
    }

    private static var container: URL {
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
