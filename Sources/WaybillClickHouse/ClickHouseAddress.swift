#if ClickHouse
public import Foundation
public import WaybillCore

/// The address of a database: `clickhouse://user@host:8123/database?replicas=b:8123,c:8123&cluster=waybill`.
///
/// It contains no password, because all users of a machine can see a command line.
public struct ClickHouseAddress: Sendable, Hashable {
    /// The HTTP interfaces of equivalent servers, which are tried in this order.
    public var servers: [URL]
    /// The name of the database.
    public var database: String
    /// The name of the user; `nil` for `default`.
    public var user: String?
    /// The password; `nil` for none.
    public var password: String?
    /// The cluster in `remote_servers` that the tables span; `nil` if one server has them all.
    public var cluster: String?
    /// The number of replicas that must store an insert. Default: 2 with a cluster, 1 without.
    public var quorum: Int

    package static let variables = (user: "WAYBILL_CLICKHOUSE_USER", password: "WAYBILL_CLICKHOUSE_PASSWORD")

    /// Parses an address.
    ///
    /// - Parameters:
    ///   - text: The address. `secure=true` selects TLS, with the default port 8443, and `quorum=1` sets ``quorum``.
    ///   - environment: The variables of the password, and of the user if `text` contains none.
    /// - Throws: `.setting` if `text` is no valid address.
    public init(
        _ text: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(WaybillError) {
        let form = "clickhouse://host:8123/database?replicas=host:8123"
        guard let url = URLComponents(string: text), url.scheme?.lowercased() == "clickhouse", let host = url.host,
            !host.isEmpty
        else { throw WaybillError(.setting, "“\(text)” is no address of a ClickHouse database: write \(form).") }
        guard url.password == nil else {
            throw WaybillError(
                .setting,
                "A password is not for an address, which others see: put it into \(Self.variables.password).")
        }
        let database = String(url.path.drop { $0 == "/" })
        guard let first = database.utf8.first, !first.isDigit,
            database.utf8.allSatisfy({ $0.isNameByte })
        else {
            throw WaybillError(
                .setting, "“\(database)” is no name of a database: write \(form), with letters, digits and underscores."
            )
        }
        self.database = database
        var values: [String: String] = [:]
        for item in url.queryItems ?? [] {
            guard ["replicas", "cluster", "quorum", "secure"].contains(item.name) else {
                throw WaybillError(
                    .setting, "“\(item.name)” is no setting of an address: there are replicas, cluster, quorum, secure."
                )
            }
            values[item.name] = item.value ?? ""
        }
        let secure = values["secure"] ?? "false"
        guard ["true", "false"].contains(secure) else {
            throw WaybillError(.setting, "In an address, secure is true or false, and not “\(secure)”.")
        }
        let isSecure = secure == "true"
        let own = url.port.map { "\(host):\($0)" } ?? host
        servers = try ([own] + (values["replicas"] ?? "").split(separator: ",").map(String.init)).map {
            server throws(WaybillError) in
            guard var components = URLComponents(string: "\(isSecure ? "https" : "http")://\(server)/"),
                components.host?.isEmpty == false
            else { throw WaybillError(.setting, "“\(server)” is no server: write host:port.") }
            if components.port == nil { components.port = isSecure ? 8443 : 8123 }
            guard let url = components.url else {
                throw WaybillError(.setting, "“\(server)” is no server: write host:port.")
            }
            return url
        }
        cluster = values["cluster"]
        guard cluster?.utf8.allSatisfy({ $0.isNameByte }) != false else {
            throw WaybillError(.setting, "A cluster's name has letters, digits and underscores.")
        }
        quorum = cluster == nil ? 1 : 2
        if let text = values["quorum"] {
            guard let number = Int(text), (1...100).contains(number) else {
                throw WaybillError(.setting, "A quorum is a number of replicas, from 1 to 100, and not “\(text)”.")
            }
            quorum = number
        }
        user = url.user ?? environment[Self.variables.user]
        password = environment[Self.variables.password]
    }
}

extension UInt8 {
    fileprivate var isNameByte: Bool { isLetterOrDigit || self == UInt8(ascii: "_") }
}

extension ClickHouseAddress {
    /// Creates the database and its tables, if they are missing.
    ///
    /// - Throws: `.setting` if the user or the password is wrong, `.store` if no server is reachable.
    public func createTables() async throws(WaybillError) { try await ClickHouseStore.migrate(self) }
}

/// The address without user and password.
extension ClickHouseAddress: CustomStringConvertible {
    public var description: String {
        "clickhouse://\(servers.first?.host() ?? ""):\(servers.first?.port ?? 0)/\(database)"
    }
}
#endif
