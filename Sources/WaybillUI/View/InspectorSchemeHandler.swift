#if os(iOS) || os(macOS) || os(visionOS)
import Foundation
import WaybillInspector
import WebKit

/// Answers what the pages in a web view ask for.
@MainActor final class InspectorSchemeHandler: NSObject, WKURLSchemeHandler {
    private let inspector: Inspector
    private let files: SharedFiles
    private var answers: [ObjectIdentifier: Task<Void, Never>] = [:]

    init(_ inspector: Inspector, files: SharedFiles) {
        self.inspector = inspector
        self.files = files
    }

    func webView(_ webView: WKWebView, start task: any WKURLSchemeTask) {
        let id = ObjectIdentifier(task)
        answers[id] = Task { [weak webView] in
            let reply = await InspectorReply(to: task.request, from: inspector)
            // A task that was stopped must not be told anything more: from here on nothing is waited for.
            guard answers.removeValue(forKey: id) != nil else { return }
            answer(task, reply, webView)
        }
    }

    func webView(_ webView: WKWebView, stop task: any WKURLSchemeTask) {
        answers.removeValue(forKey: ObjectIdentifier(task))?.cancel()
    }

    private func answer(_ task: any WKURLSchemeTask, _ reply: InspectorReply, _ webView: WKWebView?) {
        switch reply {
        case .page(let head, let body):
            task.didReceive(head)
            task.didReceive(body)
            task.didFinish()
        case .load(let url):
            task.didFailWithError(URLError(.cancelled))
            webView?.load(URLRequest(url: url))
        case .share(let file):
            // What a web view says nothing of: it stays where it is.
            task.didFailWithError(URLError(.cancelled))
            if let webView { files.share(file, from: webView) }
        case .none:
            task.didFailWithError(URLError(.unsupportedURL))
        }
    }
}
#endif
