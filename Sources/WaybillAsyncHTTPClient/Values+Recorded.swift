#if AsyncHTTPClient
import AsyncHTTPClient
import NIOHTTP1
import Waybill
import WaybillCore

extension HTTPHeaders {
    var recorded: [Fact.HeaderField] { map { Fact.HeaderField(name: $0.name, value: $0.value) } }
}

extension ExchangeResponse {
    init(_ response: HTTPClientResponse) {
        self.init(
            status: Int(response.status.code), headerFields: response.headers.recorded,
            httpVersion: response.version.major > 1
                ? "\(response.version.major)" : "\(response.version.major).\(response.version.minor)")
    }
}

extension Error {
    /// As an exchange ends with it.
    var recorded: any Error { (self as? HTTPClientError).map(NamedClientError.init) ?? self }
}

/// An error of the client by its name, which is the case of an enum that is not to be seen.
private struct NamedClientError: TransactionError, CustomStringConvertible {
    static let recordedDomain = "AsyncHTTPClient.HTTPClientError"

    let error: HTTPClientError

    var description: String { error.description }
    /// There are no numbers.
    var recordedCode: Int { 0 }
    var recordedAsCanceled: Bool { error == .cancelled }

    /// `HTTPClientError.deadlineExceeded`; what stands behind it in brackets is a value.
    var recordedName: String? {
        let name = error.description.drop { $0 != "." }.dropFirst().prefix { $0 != "(" }
        return name.isEmpty ? nil : String(name)
    }
}
#endif
