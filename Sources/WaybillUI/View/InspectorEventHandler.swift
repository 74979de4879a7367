#if os(iOS) || os(macOS) || os(visionOS)
import Foundation
import WaybillInspector
import WebKit

/// Tells the page in a web view when the store has changed.
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
#endif
