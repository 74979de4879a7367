#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import TestSupport
import WaybillCore

extension Behavior {
    private static let big = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 / 3) })
    private static let gzipped = Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJV8hAJwHjUT2NFwAAAA==") ?? Data()

    private static func hello(_ request: LoopbackServer.Request) -> LoopbackServer.Response { .text("hello") }

    /// Redirects `/there` to `/here` with the given status.
    private static func moved(_ status: Int) -> @Sendable (LoopbackServer.Request) -> LoopbackServer.Response {
        {
            $0.path == "/here"
                ? .text("hello") : .init(status: status, headers: [("Location", "/here")], body: Data("moved".utf8))
        }
    }

    /// Asks for a name and a password.
    private static func locked(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        guard request.header("Authorization") == nil else { return .text("come in") }
        return .init(status: 401, headers: [("WWW-Authenticate", "Basic realm=\"here\"")])
    }

    /// A file, with the directory that the caller must keep alive.
    private static func file(_ bytes: Data) throws -> (TemporaryDirectory, URL) {
        let folder = try TemporaryDirectory()
        try bytes.write(to: folder.file("body"))
        return (folder, folder.file("body"))
    }

    static let all: [Behavior] = withHandlers + withDelegates + endings

    private static let withHandlers: [Behavior] = [
        Behavior("GET with a handler", server: hello) { stage in
            await stage.run { stage.session.dataTask(with: stage.request(), completionHandler: $0) }
        },
        Behavior("GET, asynchronous", server: hello) { stage in
            let (data, response) = try await stage.session.data(for: stage.request())
            return ["\(Stage.text(response)) \(data.count) B"]
        },
        Behavior("HEAD", server: hello) { stage in
            await stage.run { stage.session.dataTask(with: stage.request(method: "HEAD"), completionHandler: $0) }
        },
        Behavior("POST of a body", server: hello) { stage in
            let request = stage.request(method: "POST", body: Data("a body".utf8))
            return await stage.run { stage.session.dataTask(with: request, completionHandler: $0) }
        },
        Behavior("POST of a stream", server: hello) { stage in
            var request = stage.request(method: "POST")
            request.httpBodyStream = InputStream(data: Data("streamed".utf8))
            request.setValue("8", forHTTPHeaderField: "Content-Length")
            let sent = request
            return await stage.run { stage.session.dataTask(with: sent, completionHandler: $0) }
        },
        Behavior("upload of data", server: hello) { stage in
            await stage.run {
                stage.session.uploadTask(with: stage.request(method: "PUT"), from: big, completionHandler: $0)
            }
        },
        Behavior("upload of a file with a handler", server: hello) { stage in
            let (folder, file) = try file(Data("from a file".utf8))
            defer { withExtendedLifetime(folder) {} }
            return await stage.run {
                stage.session.uploadTask(with: stage.request(method: "PUT"), fromFile: file, completionHandler: $0)
            }
        },
        Behavior(
            "download with a handler", server: { _ in .init(body: big) },
            act: { stage in
                await stage.run { answer in
                    stage.session.downloadTask(with: stage.request()) { file, response, error in
                        answer(file.flatMap { try? Data(contentsOf: $0) }, response, error)
                        if let file { try? FileManager.default.removeItem(at: file) }
                    }
                }
            }),
        Behavior("redirect", server: moved(302)) { stage in
            await stage.run { stage.session.dataTask(with: stage.request("/there"), completionHandler: $0) }
        },
        Behavior("redirect of a POST by 307", server: moved(307)) { stage in
            let request = stage.request("/there", method: "POST", body: Data("a body".utf8))
            return await stage.run { stage.session.dataTask(with: request, completionHandler: $0) }
        },
        Behavior(
            "204", server: { _ in .init(status: 204) },
            act: { stage in
                await stage.run { stage.session.dataTask(with: stage.request(), completionHandler: $0) }
            }),
        Behavior(
            "503", server: { _ in .text("busy", status: 503) },
            act: { stage in
                await stage.run { stage.session.dataTask(with: stage.request(), completionHandler: $0) }
            }),
        Behavior(
            "gzip", server: { _ in .init(headers: [("Content-Encoding", "gzip")], body: gzipped) },
            act: { stage in
                await stage.run { stage.session.dataTask(with: stage.request(), completionHandler: $0) }
            }),
        Behavior(
            "chunked", server: { _ in .init(body: big).chunked },
            act: { stage in
                await stage.run { stage.session.dataTask(with: stage.request(), completionHandler: $0) }
            }),
        Behavior(
            "cookies", server: { _ in .init(headers: [("Set-Cookie", "a=b; Path=/")]) },
            act: { stage in
                let first = await stage.run { stage.session.dataTask(with: stage.request(), completionHandler: $0) }
                return first
                    + (await stage.run { stage.session.dataTask(with: stage.request("/next"), completionHandler: $0) })
            }),
        Behavior(
            "an answer out of the cache",
            server: { _ in .init(headers: [("Cache-Control", "max-age=600")], body: Data("kept".utf8)) },
            act: {
                stage in
                let first = await stage.run { stage.session.dataTask(with: stage.request(), completionHandler: $0) }
                return first
                    + (await stage.run { stage.session.dataTask(with: stage.request(), completionHandler: $0) })
            }),
        Behavior(
            "a configuration's own header fields", configure: { $0.httpAdditionalHeaders = ["Own": "yes"] },
            server: hello,
            act: { stage in
                await stage.run { stage.session.dataTask(with: stage.request(), completionHandler: $0) }
            }),
    ]

    private static let withDelegates: [Behavior] = [
        Behavior(
            "GET with a delegate", server: { _ in .init(body: big).chunked },
            act: { stage in
                await stage.run(stage.task(stage.request()) { stage.session.dataTask(with: $0) })
            }),
        Behavior("POST with a delegate", server: hello) { stage in
            await stage.run(stage.task(stage.request(method: "POST", body: big)) { stage.session.dataTask(with: $0) })
        },
        Behavior("upload of a file with a delegate", server: hello) { stage in
            let (folder, file) = try file(big)
            defer { withExtendedLifetime(folder) {} }
            return await stage.run(
                stage.task(stage.request(method: "PUT")) { stage.session.uploadTask(with: $0, fromFile: file) })
        },
        Behavior("upload of a stream that the delegate gives", server: hello) { stage in
            stage.told.streamedBody.withLock { $0 = Data("asked for".utf8) }
            var request = stage.request(method: "PUT")
            request.setValue("9", forHTTPHeaderField: "Content-Length")
            return await stage.run(stage.task(request) { stage.session.uploadTask(withStreamedRequest: $0) })
        },
        Behavior(
            "download with a delegate", server: { _ in .init(body: big) },
            act: { stage in
                await stage.run(stage.task(stage.request()) { stage.session.downloadTask(with: $0) })
            }),
        Behavior("redirect with a delegate", server: moved(301)) { stage in
            await stage.run(stage.task(stage.request("/there")) { stage.session.dataTask(with: $0) })
        },
        Behavior("a redirect that the delegate refuses", server: moved(302)) { stage in
            stage.told.refusesRedirects.withLock { $0 = true }
            return await stage.run(stage.task(stage.request("/there")) { stage.session.dataTask(with: $0) })
        },
        Behavior("a challenge that the delegate meets", server: locked) { stage in
            await stage.run(stage.task(stage.request()) { stage.session.dataTask(with: $0) })
        },
        Behavior("resumed twice", server: hello) { stage in
            let task = stage.task(stage.request()) { stage.session.dataTask(with: $0) }
            task.resume()
            return await stage.run(task)
        },
    ]

    private static let endings: [Behavior] = [
        Behavior(
            "cut short", server: { _ in LoopbackServer.Response(body: big).cutShort },
            act: { stage in
                await stage.run { stage.session.dataTask(with: stage.request(), completionHandler: $0) }
            }),
        Behavior(
            "hung up", server: { _ in .closed },
            act: { stage in
                await stage.run(stage.task(stage.request()) { stage.session.dataTask(with: $0) })
            }),
        Behavior("refused", server: hello) { stage in
            let request = URLRequest(url: try refusedURL())
            return await stage.run { stage.session.dataTask(with: request, completionHandler: $0) }
        },
        Behavior(
            "timed out", configure: { $0.timeoutIntervalForRequest = 1 }, server: { _ in .never },
            act: { stage in
                await stage.run(stage.task(stage.request()) { stage.session.dataTask(with: $0) })
            }),
        Behavior(
            "cancelled with a handler", server: { _ in .never },
            act: { stage in
                await stage.run(resumed: { task in
                    await stage.arrived.opened()
                    task.cancel()
                }) { stage.session.dataTask(with: stage.request(), completionHandler: $0) }
            }),
        Behavior(
            "cancelled with a delegate", server: { _ in .never },
            act: { stage in
                await stage.run(stage.task(stage.request()) { stage.session.dataTask(with: $0) }) { task in
                    await stage.arrived.opened()
                    task.cancel()
                }
            }),
    ]
}
#endif
