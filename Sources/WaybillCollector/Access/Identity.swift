#if Collector
import Foundation
public import HTTPTypes
public import WaybillCore
import WaybillInspector

extension Access {
    /// A client: its name, its project and its role.
    ///
    /// The collector counts rate limits and shares of room for each name within a project.
    public struct Identity: Sendable, Hashable {
        /// The name, e.g. a user's ID. The log, and the sources of its OTLP spans, depend on it.
        public let name: String
        /// The rights within the project.
        public let role: Role
        package let projectName: ProjectName

        /// The name of the project, which has its own store.
        public var project: String { projectName.description }

        /// Creates an identity.
        ///
        /// - Parameters:
        ///   - name: The name of the client: 1 to 128 bytes without control characters. Not a secret, since logs have
        ///     it.
        ///   - project: The name of the project. Its store is created if there is none, so don't let clients choose it.
        ///     Default: `waybill`.
        ///   - role: The rights within the project.
        /// - Throws: `setting` if one of the names is invalid.
        public init(name: String, project: String = "waybill", role: Role) throws(WaybillError) {
            guard (1...128).contains(name.utf8.count),
                !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
            else {
                throw WaybillError(
                    .setting, "The name of an identity has 1 to 128 bytes, and no control characters. Use an ID.")
            }
            guard let projectName = ProjectName(project) else {
                throw WaybillError(
                    .setting,
                    "“\(project)” is not the name of a project. Use 1 to 64 of a-z, 0-9 and -, not beginning with -.")
            }
            (self.name, self.projectName, self.role) = (name, projectName, role)
        }

        package init(_ token: AccessToken) {
            (name, projectName, role) = (token.id, token.project, token.role)
        }

        private init() { (name, projectName, role) = ("", .standard, .admin) }

        /// Any client of an open collector. It has no name, and no limits.
        package static let anyone = Identity()

        package var key: String? { name.isEmpty ? nil : "\(project)/\(name)" }
    }

    /// The error that refuses a client, thrown by the closure of ``authorizing(_:)``.
    public struct Refusal: Error, Sendable {
        /// The reason for the client, in one sentence. The collector sends at most 1,024 bytes.
        public var reason: String
        /// The status: 401 by default. A status outside 400 to 499 is sent as 401.
        public var status: HTTPResponse.Status
        /// Additional fields of the response, such as `WWW-Authenticate`. Default: none.
        public var headerFields: HTTPFields

        /// Creates a refusal.
        ///
        /// - Parameters:
        ///   - reason: One sentence that says what the client should do.
        ///   - status: 401 for an unknown client, 403 for a known one without rights here. Default: 401.
        ///   - headerFields: Additional fields of the response, such as `WWW-Authenticate`. Default: none.
        public init(_ reason: String, status: HTTPResponse.Status = .unauthorized, headerFields: HTTPFields = [:]) {
            (self.reason, self.status, self.headerFields) = (reason, status, headerFields)
        }
    }

    /// Any other error of the closure. The client gets none of it.
    struct Failure: Error {
        let cause: any Error
    }
}

extension Problem {
    init(_ refusal: Access.Refusal) {
        let isRefusal = (400..<500).contains(refusal.status.code)
        self.init(isRefusal ? refusal.status : .unauthorized, refusal.reason.cut(to: 1_024))
        self.refusal = .host
        headers = refusal.headerFields
    }

    static var unidentified: Problem {
        Problem(
            .serviceUnavailable, "The service can't check your access at the moment. Nothing was stored; try again.",
            refusal: .hostFailure, headers: [.retryAfter: "5"])
    }
}

extension HTTPRequest {
    /// The request behind a request for a page. It has only the first of several fields with the same name.
    init(_ request: InspectorRequest) {
        var fields = HTTPFields()
        for (name, value) in request.fields where name != "host" {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let query = request.query.isEmpty ? "" : "?\(request.query)"
        self.init(
            method: HTTPRequest.Method(request.method) ?? .get, scheme: nil, authority: request.fields["host"],
            path: request.root + request.path + query, headerFields: fields)
    }
}
#endif
