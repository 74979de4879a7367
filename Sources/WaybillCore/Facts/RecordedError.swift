import Foundation

/// What is kept of an error: its domain and code, and its text only where the manager was told to keep texts.
public struct RecordedError: Hashable, Sendable, Codable {
    /// Who defines the code, e.g. `NSURLErrorDomain` or `MyApp.LoginError`; empty for a bare number.
    public var domain: String
    /// The number that says which error.
    public var code: Int
    /// The error's own words, redacted; nil unless asked for.
    public var text: String?

    /// Makes a value to record.
    public init(domain: String = "", code: Int, text: String? = nil) {
        self.domain = domain
        self.code = code
        self.text = text
    }

    /// Takes domain and code of an error; its text only if asked for.
    public init(_ error: any Error, includingText: Bool) {
        let bridged = error as NSError
        self.init(domain: bridged.domain, code: bridged.code, text: includingText ? "\(error)" : nil)
    }
}
