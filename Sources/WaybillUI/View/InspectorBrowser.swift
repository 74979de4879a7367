#if os(iOS) || os(macOS) || os(visionOS)
import Foundation
import Waybill
import WaybillInspector
import WebKit

#if os(macOS)
import AppKit
#else
import UIKit
#endif

/// The pages come from a custom scheme. A local port would be open to every app on the device.
@MainActor final class InspectorBrowser: NSObject {
    let view: WKWebView
    private let events: InspectorEventHandler
    private let files = SharedFiles()

    private static let scheme = "waybill"
    private static let home = URL(string: "\(scheme)://inspector/transactions")

    init(_ transactions: TransactionManager, hasControls: Bool) {
        let inspector = Inspector(transactions, hasControls: hasControls)
        events = InspectorEventHandler(inspector)
        let configuration = WKWebViewConfiguration()
        configuration.websiteDataStore = .nonPersistent()
        configuration.setURLSchemeHandler(InspectorSchemeHandler(inspector, files: files), forURLScheme: Self.scheme)
        configuration.userContentController.add(events, name: InspectorEvents.handlerName)
        configuration.userContentController.addUserScript(
            WKUserScript(
                source: InspectorEvents.script, injectionTime: .atDocumentStart, forMainFrameOnly: true))
        view = WKWebView(frame: .zero, configuration: configuration)
        super.init()
        view.navigationDelegate = self
        view.allowsBackForwardNavigationGestures = true
        if let home = Self.home { view.load(URLRequest(url: home)) }
    }
}

extension InspectorBrowser: WKNavigationDelegate {
    // Async, because the closure's type differs between versions of the SDK.
    func webView(_ webView: WKWebView, decidePolicyFor action: WKNavigationAction) async -> WKNavigationActionPolicy {
        guard action.request.url?.scheme == Self.scheme else { return .cancel }
        guard action.shouldPerformDownload else { return .allow }
        webView.load(action.request)
        return .cancel
    }

    func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!) { events.stop() }
}

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
            // A stopped task must not be called any more, so nothing waits from here on.
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
            // Fail silently: the page stays.
            task.didFailWithError(URLError(.cancelled))
            if let webView { files.share(file, from: webView) }
        case .none:
            task.didFailWithError(URLError(.unsupportedURL))
        }
    }
}

@MainActor final class InspectorEventHandler: NSObject, WKScriptMessageHandler {
    private let inspector: Inspector
    private var following: Task<Void, Never>?

    init(_ inspector: Inspector) { self.inspector = inspector }

    deinit { following?.cancel() }

    func userContentController(_ controller: WKUserContentController, didReceive message: WKScriptMessage) {
        stop()
        guard let address = message.body as? String, !address.isEmpty else { return }
        following = Task { [inspector, weak webView = message.webView] in
            await InspectorEvents.follow(address, of: inspector) { script in
                webView?.evaluateJavaScript(script, completionHandler: nil)
            }
        }
    }

    func stop() {
        following?.cancel()
        following = nil
    }
}

@MainActor final class SharedFiles {
    private static let shared = FileManager.default.temporaryDirectory.appending(path: "waybill-shared")
    /// Deletes the files of earlier launches. AirDrop may still send those of this one when the inspector is closed.
    private static let isEmptied: Void = { try? FileManager.default.removeItem(at: shared) }()

    private let folder = shared.appending(path: UUID().uuidString)

    init() { Self.isEmptied }

    #if os(macOS)
    func share(_ file: InspectorFile, from view: WKWebView) {
        let panel = NSSavePanel()
        panel.nameFieldStringValue = file.name
        // Async, because the closure's type differs between versions of the SDK.
        Task {
            let window = view.window
            let response = if let window { await panel.beginSheetModal(for: window) } else { await panel.begin() }
            guard response == .OK, let place = panel.url else { return }
            do { try Data(file.bytes).write(to: place, options: .atomic) } catch { NSAlert(error: error).runModal() }
        }
    }
    #else
    func share(_ file: InspectorFile, from view: WKWebView) {
        do {
            Self.present([try file.write(into: folder)], from: view)
        } catch {
            Self.present(["\(file.name) could not be written: \(error.localizedDescription)"], from: view)
        }
    }

    private static func present(_ items: [Any], from view: WKWebView) {
        let responders = sequence(first: view as UIResponder, next: \.next)
        guard let presenter = responders.first(where: { $0 is UIViewController }) as? UIViewController else { return }
        let sheet = UIActivityViewController(activityItems: items, applicationActivities: nil)
        // On an iPad, the sheet is a popover and needs a position.
        sheet.popoverPresentationController?.sourceView = view
        sheet.popoverPresentationController?.sourceRect = CGRect(
            x: view.bounds.midX, y: view.bounds.midY, width: 1, height: 1)
        presenter.present(sheet, animated: true)
    }
    #endif
}
#endif
