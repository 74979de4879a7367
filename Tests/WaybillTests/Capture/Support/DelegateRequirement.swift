#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import Testing
import Waybill
import WaybillQueries
import WaybillCore

/// One method of the delegate protocols, and a call of it that returns the delegate's answer.
struct DelegateRequirement: Sendable, CustomTestStringConvertible {
    /// `URLSessionTaskDelegate.urlSession(_:task:didCompleteWithError:)`
    let name: String
    /// Calls the method and returns the answer; `nil` if there was none.
    let call: @Sendable (any AllDelegates, DelegateScene) -> String?

    init(_ name: String, _ call: @escaping @Sendable (any AllDelegates, DelegateScene) -> Void) {
        self.init(asking: name) { delegate, scene, _ in call(delegate, scene) }
    }

    init(asking name: String, _ call: @escaping @Sendable (any AllDelegates, DelegateScene, Answer) -> Void) {
        self.name = name
        self.call = { delegate, scene in
            let answer = Answer()
            call(delegate, scene, answer)
            return answer.text.withLock { $0 }
        }
    }

    /// The arguments of the completion handler.
    final class Answer: Sendable {
        let text = Locked<String?>(nil)
        func give(_ values: Any?...) {
            text.withLock { $0 = values.map { $0.map { "\($0)" } ?? "nil" }.joined(separator: ", ") }
        }
    }

    var testDescription: String { name }
}

typealias AllDelegates = URLSessionDataDelegate & URLSessionDownloadDelegate & URLSessionStreamDelegate
    & URLSessionWebSocketDelegate

/// The arguments of the methods. They are never sent.
struct DelegateScene: Sendable {
    let session = URLSession(configuration: .ephemeral)
    let dataTask: URLSessionDataTask
    let downloadTask: URLSessionDownloadTask
    let webSocketTask: URLSessionWebSocketTask
    let streamTask = URLSessionStreamTask()
    let request: URLRequest
    let response: HTTPURLResponse
    let challenge: URLAuthenticationChallenge

    init() throws {
        let url = try #require(URL(string: "http://127.0.0.1/"))
        request = URLRequest(url: url)
        dataTask = session.dataTask(with: request)
        downloadTask = session.downloadTask(with: request)
        webSocketTask = session.webSocketTask(with: try #require(URL(string: "ws://127.0.0.1/")))
        response = try #require(HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil))
        let space = URLProtectionSpace(
            host: "127.0.0.1", port: 80, protocol: "http", realm: nil, authenticationMethod: "Basic")
        challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil,
            sender: Nobody())
    }

    private final class Nobody: NSObject, URLAuthenticationChallengeSender, Sendable {
        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
        func cancel(_ challenge: URLAuthenticationChallenge) {}
        func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
    }
}

extension DelegateRequirement {
    /// Every method; `everyMethodOfTheDelegateProtocolsIsListed` asks the compiler.
    static let all: [DelegateRequirement] = [
        .init("URLSessionDelegate.urlSession(_:didBecomeInvalidWithError:)") {
            $0.urlSession($1.session, didBecomeInvalidWithError: nil)
        },
        .init(asking: "URLSessionDelegate.urlSession(_:didReceive:completionHandler:)") { delegate, scene, answer in
            delegate.urlSession(scene.session, didReceive: scene.challenge) { answer.give($0, $1) }
        },
        .init(
            asking: "URLSessionTaskDelegate.urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)"
        ) {
            delegate, scene, answer in
            delegate.urlSession(
                scene.session, task: scene.dataTask, willPerformHTTPRedirection: scene.response,
                newRequest: scene.request
            ) {
                answer.give($0)
            }
        },
        .init(asking: "URLSessionTaskDelegate.urlSession(_:task:didReceive:completionHandler:)") {
            delegate, scene, answer in
            delegate.urlSession(scene.session, task: scene.dataTask, didReceive: scene.challenge) {
                answer.give($0, $1)
            }
        },
        .init(asking: "URLSessionTaskDelegate.urlSession(_:task:needNewBodyStream:)") { delegate, scene, answer in
            delegate.urlSession(scene.session, task: scene.dataTask, needNewBodyStream: { answer.give($0) })
        },
        .init("URLSessionTaskDelegate.urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:)") {
            $0.urlSession(
                $1.session, task: $1.dataTask, didSendBodyData: 1, totalBytesSent: 1, totalBytesExpectedToSend: 1)
        },
        .init("URLSessionTaskDelegate.urlSession(_:task:didCompleteWithError:)") {
            $0.urlSession($1.session, task: $1.dataTask, didCompleteWithError: nil)
        },
        .init(asking: "URLSessionTaskDelegate.urlSession(_:task:willBeginDelayedRequest:completionHandler:)") {
            delegate, scene, answer in
            delegate.urlSession(scene.session, task: scene.dataTask, willBeginDelayedRequest: scene.request) {
                answer.give($0, $1)
            }
        },
        .init("URLSessionTaskDelegate.urlSession(_:task:didFinishCollecting:)") {
            $0.urlSession($1.session, task: $1.dataTask, didFinishCollecting: URLSessionTaskMetrics())
        },
        .init(asking: "URLSessionDataDelegate.urlSession(_:dataTask:didReceive:completionHandler:)") {
            delegate, scene, answer in
            delegate.urlSession(scene.session, dataTask: scene.dataTask, didReceive: scene.response) { answer.give($0) }
        },
        .init("URLSessionDataDelegate.urlSession(_:dataTask:didBecome:)") {
            $0.urlSession($1.session, dataTask: $1.dataTask, didBecome: $1.downloadTask)
        },
        .init("URLSessionDataDelegate.urlSession(_:dataTask:didBecome:)") {
            $0.urlSession($1.session, dataTask: $1.dataTask, didBecome: $1.streamTask)
        },
        .init("URLSessionDataDelegate.urlSession(_:dataTask:didReceive:)") {
            $0.urlSession($1.session, dataTask: $1.dataTask, didReceive: Data("bytes".utf8))
        },
        .init(asking: "URLSessionDataDelegate.urlSession(_:dataTask:willCacheResponse:completionHandler:)") {
            delegate, scene, answer in
            let proposed = CachedURLResponse(response: scene.response, data: Data("proposed".utf8))
            delegate.urlSession(scene.session, dataTask: scene.dataTask, willCacheResponse: proposed) {
                answer.give($0?.data.count)
            }
        },
        .init("URLSessionDownloadDelegate.urlSession(_:downloadTask:didFinishDownloadingTo:)") {
            $0.urlSession($1.session, downloadTask: $1.downloadTask, didFinishDownloadingTo: URL(filePath: "/"))
        },
        .init(
            "URLSessionDownloadDelegate.urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:)"
        ) {
            $0.urlSession(
                $1.session, downloadTask: $1.downloadTask, didWriteData: 1, totalBytesWritten: 1,
                totalBytesExpectedToWrite: 1)
        },
        .init("URLSessionDownloadDelegate.urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)") {
            $0.urlSession($1.session, downloadTask: $1.downloadTask, didResumeAtOffset: 1, expectedTotalBytes: 2)
        },
        .init("URLSessionStreamDelegate.urlSession(_:readClosedFor:)") {
            $0.urlSession($1.session, readClosedFor: $1.streamTask)
        },
        .init("URLSessionStreamDelegate.urlSession(_:writeClosedFor:)") {
            $0.urlSession($1.session, writeClosedFor: $1.streamTask)
        },
        .init("URLSessionStreamDelegate.urlSession(_:betterRouteDiscoveredFor:)") {
            $0.urlSession($1.session, betterRouteDiscoveredFor: $1.streamTask)
        },
        .init("URLSessionStreamDelegate.urlSession(_:streamTask:didBecome:outputStream:)") {
            $0.urlSession(
                $1.session, streamTask: $1.streamTask, didBecome: InputStream(data: Data()),
                outputStream: OutputStream(toMemory: ()))
        },
        .init("URLSessionWebSocketDelegate.urlSession(_:webSocketTask:didOpenWithProtocol:)") {
            $0.urlSession($1.session, webSocketTask: $1.webSocketTask, didOpenWithProtocol: "chat")
        },
        .init("URLSessionWebSocketDelegate.urlSession(_:webSocketTask:didCloseWith:reason:)") {
            $0.urlSession($1.session, webSocketTask: $1.webSocketTask, didCloseWith: .normalClosure, reason: nil)
        },
    ]
}
#endif
