#if canImport(WebKit)
import TestSupport
import Testing
import Waybill
import WaybillInspector
import WebKit

// The handler that the documentation of WaybillInspector shows.

/// Answers what a web view asks of `waybill://app`.
@MainActor final class InspectorScheme: NSObject, WKURLSchemeHandler {
    private let inspector: Inspector
    private var answers: [ObjectIdentifier: Task<Void, Never>] = [:]

    init(_ inspector: Inspector) { self.inspector = inspector }

    func webView(_ webView: WKWebView, start task: any WKURLSchemeTask) {
        answers[ObjectIdentifier(task)] = Task {
            do {
                try await answer(task, in: webView)
                if !Task.isCancelled { task.didFinish() }
            } catch {
                if !Task.isCancelled { task.didFailWithError(error) }
            }
            answers[ObjectIdentifier(task)] = nil
        }
    }

    // A task that was stopped must not be told anything more.
    func webView(_ webView: WKWebView, stop task: any WKURLSchemeTask) {
        answers.removeValue(forKey: ObjectIdentifier(task))?.cancel()
    }

    private func answer(_ task: any WKURLSchemeTask, in webView: WKWebView) async throws {
        guard let url = task.request.url else { throw URLError(.badURL) }
        let response = await inspector.respond(
            to: InspectorRequest(
                method: task.request.httpMethod ?? "GET", path: url.path(percentEncoded: true),
                query: url.query(percentEncoded: true) ?? ""))
        try Task.checkCancellation()
        if response.status == 303, let place = response.fields["Location"].flatMap({ URL(string: $0, relativeTo: url) })
        {
            // A task cannot be sent elsewhere; the view can.
            webView.load(URLRequest(url: place))
            throw URLError(.cancelled)
        }
        guard
            let head = HTTPURLResponse(
                url: url, statusCode: response.status, httpVersion: "HTTP/1.1", headerFields: response.fields)
        else { throw URLError(.badServerResponse) }
        task.didReceive(head)
        switch response.body {
        case .bytes(let bytes): task.didReceive(Data(bytes))
        case .stream(let pieces):
            for try await piece in pieces {
                try Task.checkCancellation()
                task.didReceive(Data(piece))
            }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct InspectorSchemeTests {
    /// Breaks when an app cannot show its own pages in a web view.
    @MainActor @Test func aWebViewShowsTheManagersPages() async throws {
        let transactions = TransactionManager(store: .inMemory)
        let configuration = WKWebViewConfiguration()
        configuration.setURLSchemeHandler(InspectorScheme(Inspector(transactions)), forURLScheme: "waybill")
        let view = WKWebView(frame: .zero, configuration: configuration)
        view.load(URLRequest(url: URL(string: "waybill://app/transactions")!))
        try await eventually("the page is loaded") { view.title?.isEmpty == false }
    }
}
#endif
