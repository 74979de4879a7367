import Foundation
import WaybillCore

/// Of which exchanges the bodies are kept, and how much of them: `TransactionManager.Options.network.bodies`.
///
/// Without a policy no body is ever looked at. With one, a body is redacted while it comes and before it is written; it
/// stays on the device, in the store's file, and is in no set, no export and no snapshot. Text of every kind is read:
/// JSON, forms, `multipart/form-data`, XML and HTML, lines. A single string, line or tag of more than 64 KiB is hidden
/// whole. Nothing is kept of a body that the platform does not decode, nor, on Apple platforms, of one that is uploaded
/// from a stream.
///
/// ## Usage
///
/// ```swift
/// var options = TransactionManager.Options()
/// options.network.bodies = BodyPolicy(hosts: ["api.example.com"])
/// ```
public struct BodyPolicy: Sendable, Hashable {
    /// The hosts, in any case; empty: all.
    public var hosts: [TextPattern]
    /// The paths as they are on the wire, `/` where a URL has none; empty: all.
    public var paths: [TextPattern]
    /// The media types, without parameters and in any case; empty: every kind of text.
    ///
    /// A type that is no text, an image for example, is kept only where it is named here; what has the shape of a
    /// secret is taken out of it, too.
    public var contentTypes: [TextPattern]
    /// Bytes of a body that are kept; of a longer one the beginning is, with its true length and a hash. Default: 256
    /// KiB.
    public var maximumByteCount = 256 << 10
    /// The fraction of transactions whose bodies are kept, from 0 to 1: of one all or none. Outside a transaction it
    /// counts exchanges. Default: 1.
    public var sample = 1.0
    /// Bytes that all bodies may take in the store, compressed; the oldest go. Default: 16 MiB.
    ///
    /// Within the store's own limit (``TransactionManager/Options/retention``), for which bodies go before anything
    /// else.
    public var maximumStoreByteCount: Int64 = 16 << 20

    /// A policy that keeps the beginning of each body of text.
    public init(hosts: [TextPattern] = [], paths: [TextPattern] = [], contentTypes: [TextPattern] = []) {
        self.hosts = hosts
        self.paths = paths
        self.contentTypes = contentTypes
    }

    /// Whether bodies of an exchange are kept.
    ///
    /// - Parameter transaction: nil outside one.
    func wants(_ request: ExchangeRequest, of transaction: GUID?) -> Bool {
        guard hosts.isEmpty || hosts.contains(where: { $0.ignoringCase.matches(request.url.host() ?? "") }) else {
            return false
        }
        let path = request.url.path(percentEncoded: true)
        guard paths.isEmpty || paths.contains(where: { $0.matches(path.isEmpty ? "/" : path) }) else { return false }
        return sample >= 1 || sample > Self.position(of: transaction)
    }

    /// Whether a type was named.
    func names(_ contentType: String?) -> Bool {
        let type = (contentType ?? "").prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        return contentTypes.contains { $0.ignoringCase.matches(type) }
    }

    /// Where a transaction stands between 0 and 1: hashed, because not every bit of an ID is drawn at random.
    private static func position(of transaction: GUID?) -> Double {
        guard let transaction else { return .random(in: 0..<1) }
        var hash = SipHash(key: (0, 0))
        transaction.withBytes { hash.update($0) }
        return Double(hash.value.0 >> 11) * 0x1p-53
    }

    /// What in it cannot work.
    var problems: [WaybillError] {
        var problems = (hosts + paths + contentTypes).compactMap(\.problem)
        if !(0...1).contains(sample) {
            problems.append(
                WaybillError(.setting, "A sample of \(sample) is none between 0 and 1; the nearest is used."))
        }
        if maximumByteCount < 1 || maximumStoreByteCount < 1 {
            problems.append(WaybillError(.setting, "A limit of less than one byte keeps no body."))
        }
        return problems
    }
}
