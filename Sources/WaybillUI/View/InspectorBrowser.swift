#if os(iOS) || os(macOS) || os(visionOS)
import Foundation
import Waybill
import WaybillInspector
import WebKit

/// A web view that shows the pages of a manager's store and can go nowhere else.
///
/// The pages come of a handler for a scheme of their own: a port of this device would be open to every app on it, and App
/// Transport Security asks for an exception for it. Nothing of what is shown is kept on the disk.
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
    // With `async`: the type of the closure that it had else differs between versions of the SDK.
    func webView(_ webView: WKWebView, decidePolicyFor action: WKNavigationAction) async -> WKNavigationActionPolicy {
        guard action.request.url?.scheme == Self.scheme else { return .cancel }
        guard action.shouldPerformDownload else { return .allow }
        // A file comes of the same handler, which knows what to do with one.
        webView.load(action.request)
        return .cancel
    }

    // The page that followed a stream has gone.
    func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!) { events.stop() }
}
#endif
