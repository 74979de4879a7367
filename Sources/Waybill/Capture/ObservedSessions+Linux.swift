#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import WaybillAtomics
import WaybillCore

/// Which capture watches which session: told by the configuration, which is the session's own for as long as that
/// lives.
enum ObservedSessions {
    /// How many captures are running.
    static let runningCount = Atomic(0)
    private static let entries = Locked<[ObjectIdentifier: Entry]>([:])

    private struct Entry {
        weak var configuration: URLSessionConfiguration?
        weak var capture: PassiveCapture?
    }

    /// The last capture that includes a session gets its requests.
    static func note(_ configuration: URLSessionConfiguration, as capture: PassiveCapture) {
        entries.withLock { entries in
            entries = entries.filter { $0.value.configuration != nil && $0.value.capture != nil }
            entries[ObjectIdentifier(configuration)] = Entry(configuration: configuration, capture: capture)
        }
    }

    static func capture(of configuration: URLSessionConfiguration) -> PassiveCapture? {
        entries.withLock { entries in
            guard let entry = entries[ObjectIdentifier(configuration)], entry.configuration === configuration else {
                return nil
            }
            return entry.capture
        }
    }

    /// All captures, where it cannot be told which one is meant.
    static var captures: [PassiveCapture] { entries.withLock { $0.values.compactMap(\.capture) } }
}

/// Which transactions were current when requests were resumed that no protocol object was made for yet.
///
/// With a cache, the object is made on another thread, and all that it has in common with the call is the request.
/// Where the same request is under way for two, neither is told to be the other's: both belong to none.
enum Callers {
    private struct Entry {
        var part: OpenPart?
        var count: Int
    }

    private static let waiting = Locked<[URLRequest: Entry]>([:])

    static func note(_ part: OpenPart?, of request: URLRequest) {
        // Let go after the lock: the last reference to a part closes it, about which the app is asked.
        let before = waiting.withLock { waiting in
            let entry = waiting[request]
            waiting[request] = Entry(
                part: entry == nil || entry?.part === part ? part : nil, count: (entry?.count ?? 0) + 1)
            return entry
        }
        withExtendedLifetime(before) {}
    }

    static func take(_ request: URLRequest) -> OpenPart? {
        waiting.withLock { waiting in
            guard let entry = waiting[request] else { return nil }
            waiting[request] = entry.count > 1 ? Entry(part: entry.part, count: entry.count - 1) : nil
            return entry.part
        }
    }
}
#endif
