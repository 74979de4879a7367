public import Foundation
import WaybillCore

/// Which requests are meant: those that meet every condition that is given; without any, all of them.
///
/// Conditions look at the request as it is sent, before anything is redacted. Hosts, methods and the names of header
/// fields have no case (a method has one by RFC 9110, but no two registered methods differ by case alone); everything
/// else goes by its pattern.
///
/// ## Usage
///
/// ```swift
/// var pattern = RequestPattern(method: "POST", path: .glob("/v1/*"))
/// pattern.headerFields["Accept"] = .contains("json")
/// ```
public struct RequestPattern: Sendable, Hashable {
    /// The method, in any case; nil: any.
    public var method: TextPattern? { didSet { anyCaseMethod = method?.ignoringCase } }
    /// The whole URL as it is written, without its fragment; nil: any.
    public var url: TextPattern?
    /// The host, without port, in any case; nil: any, or none.
    public var host: TextPattern? { didSet { anyCaseHost = host?.ignoringCase } }
    /// The path as it is on the wire, percent-encoded, `/` where the URL has none; nil: any.
    public var path: TextPattern?
    /// Header fields that must be there, by name, with a value that matches; of a field that comes twice, one is
    /// enough.
    public var headerFields: [String: TextPattern]
    /// The body, of which ``TextPattern/longestText`` bytes are looked at; a body that comes from a stream or a file is
    /// not looked at, and does not match. nil: any, or none.
    public var body: TextPattern?
    private var anyCaseMethod: TextPattern?
    private var anyCaseHost: TextPattern?

    /// Makes a pattern of conditions; those left out are met by every request.
    public init(
        method: TextPattern? = nil, url: TextPattern? = nil, host: TextPattern? = nil, path: TextPattern? = nil,
        headerFields: [String: TextPattern] = [:], body: TextPattern? = nil
    ) {
        self.method = method
        self.url = url
        self.host = host
        self.path = path
        self.headerFields = headerFields
        self.body = body
        anyCaseMethod = method?.ignoringCase
        anyCaseHost = host?.ignoringCase
    }

    /// Whether a request meets every condition.
    ///
    /// The body is asked for only where there is a condition for it and all others are met; nil: there is none to look
    /// at.
    public func matches(_ request: ExchangeRequest, body: @autoclosure () -> Data? = nil) -> Bool {
        guard anyCaseMethod?.matches(request.method) ?? true, meetsAddress(request.url),
            meetsFields(request.headerFields)
        else {
            return false
        }
        return self.body.map { pattern in body().map(pattern.matches) ?? false } ?? true
    }

    private func meetsAddress(_ address: URL) -> Bool {
        guard anyCaseHost?.matches(address.host() ?? "") ?? true else { return false }
        if let path {
            let sent = address.path(percentEncoded: true)
            guard path.matches(sent.isEmpty ? "/" : sent) else { return false }
        }
        return url?.matches(String(address.absoluteString.prefix { $0 != "#" })) ?? true
    }

    private func meetsFields(_ fields: [Fact.HeaderField]) -> Bool {
        headerFields.allSatisfy { name, pattern in
            fields.contains { $0.name.lowercased() == name.lowercased() && pattern.matches($0.value) }
        }
    }

    /// Why it can never match; empty where it can.
    var problems: [WaybillError] {
        ([method, url, host, path, body] + headerFields.sorted { $0.key < $1.key }.map(\.value)).compactMap {
            $0?.problem
        }
    }
}
