import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The result of a request for its caller.
enum Outcome: Equatable, Sendable {
    case answered(status: Int, url: URL?, fields: [String: String], body: Data)
    case failed(URLError.Code)
    /// The thrown error is not a `URLError`.
    case strange(String)

    init(_ send: () async throws -> (Data, URLResponse)) async {
        do {
            let (data, response) = try await send()
            guard let response = response as? HTTPURLResponse else {
                self = .strange("\(response)")
                return
            }
            var fields: [String: String] = [:]
            for (name, value) in response.allHeaderFields { fields["\(name)"] = "\(value)" }
            self = .answered(status: response.statusCode, url: response.url, fields: fields, body: data)
        } catch let error as URLError {
            self = .failed(error.code)
        } catch {
            self = .strange("\(error)")
        }
    }

    /// The body of an answer; `nil` if the request failed.
    var body: Data? {
        guard case .answered(_, _, _, let body) = self else { return nil }
        return body
    }

    /// The status of an answer; `nil` if the request failed.
    var status: Int? {
        guard case .answered(let status, _, _, _) = self else { return nil }
        return status
    }
}

/// `URLSession` without capture, for comparison. It is never cancelled, because on Linux it doesn't survive that. It is
/// never asked for a password, because it would wait for ever.
enum BareSession {
    static func send(_ call: WayIn.Call) async throws -> (Data, URLResponse) {
        let session = URLSession(configuration: .ephemeral)
        session.configuration.urlCache = nil
        defer { session.finishTasksAndInvalidate() }
        return try await withCheckedThrowingContinuation { continuation in
            let handler: @Sendable (Data?, URLResponse?, (any Error)?) -> Void = { data, response, error in
                if let data, let response {
                    continuation.resume(returning: (data, response))
                } else {
                    continuation.resume(throwing: error ?? URLError(.unknown))
                }
            }
            let task =
                switch call.body {
                case .none, .stream: session.dataTask(with: call.requestWithBody, completionHandler: handler)
                case .data(let data): session.uploadTask(with: call.request, from: data, completionHandler: handler)
                case .file(let file): session.uploadTask(with: call.request, fromFile: file, completionHandler: handler)
                }
            task.resume()
        }
    }
}
