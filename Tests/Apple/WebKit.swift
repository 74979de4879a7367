// swift-format-ignore-file
// The declarations in use from WebKit, whose headers are public (WebKit, Source/WebKit/UIProcess/API/Cocoa). Watches
// and televisions do not have it.
#if os(macOS)
@_exported import AppKit
public typealias PlatformView = NSView
#else
@_exported import UIKit
public typealias PlatformView = UIView
#endif

@MainActor open class WKWebView: PlatformView {
    public init(frame: CGRect, configuration: WKWebViewConfiguration) { super.init(frame: frame) }
    public required init?(coder: NSCoder) { nil }
    open var configuration: WKWebViewConfiguration { fatalError() }
    weak open var navigationDelegate: (any WKNavigationDelegate)?
    open var title: String? { nil }
    open var url: URL? { nil }
    open var canGoBack: Bool { false }
    open var allowsBackForwardNavigationGestures = false
    @discardableResult open func load(_ request: URLRequest) -> WKNavigation? { nil }
    @discardableResult open func reload() -> WKNavigation? { nil }
    open func evaluateJavaScript(_ script: String, completionHandler: (@MainActor @Sendable (Any?, (any Error)?) -> Void)? = nil) {}
}
@MainActor open class WKWebViewConfiguration: NSObject {
    public override init() {}
    open var websiteDataStore: WKWebsiteDataStore { get { fatalError() } set {} }
    open var userContentController: WKUserContentController { get { fatalError() } set {} }
    open func setURLSchemeHandler(_ handler: (any WKURLSchemeHandler)?, forURLScheme scheme: String) {}
    open func urlSchemeHandler(forURLScheme scheme: String) -> (any WKURLSchemeHandler)? { nil }
}
@MainActor open class WKWebsiteDataStore: NSObject {
    open class func `default`() -> WKWebsiteDataStore { fatalError() }
    open class func nonPersistent() -> WKWebsiteDataStore { fatalError() }
}

@MainActor @objc public protocol WKURLSchemeHandler: NSObjectProtocol {
    func webView(_ webView: WKWebView, start urlSchemeTask: any WKURLSchemeTask)
    func webView(_ webView: WKWebView, stop urlSchemeTask: any WKURLSchemeTask)
}
@MainActor @objc public protocol WKURLSchemeTask: NSObjectProtocol {
    var request: URLRequest { get }
    @objc(didReceiveResponse:) func didReceive(_ response: URLResponse)
    @objc(didReceiveData:) func didReceive(_ data: Data)
    func didFinish()
    func didFailWithError(_ error: any Error)
}

@MainActor open class WKUserContentController: NSObject {
    public override init() {}
    open func addUserScript(_ script: WKUserScript) {}
    open func add(_ handler: any WKScriptMessageHandler, name: String) {}
    open func removeScriptMessageHandler(forName name: String) {}
}
@objc public enum WKUserScriptInjectionTime: Int, Sendable { case atDocumentStart = 0, atDocumentEnd }
@MainActor open class WKUserScript: NSObject {
    public init(source: String, injectionTime: WKUserScriptInjectionTime, forMainFrameOnly: Bool) {}
}
@MainActor @objc public protocol WKScriptMessageHandler: NSObjectProtocol {
    func userContentController(_ userContentController: WKUserContentController, didReceive message: WKScriptMessage)
}
@MainActor open class WKScriptMessage: NSObject {
    open var body: Any { "" }
    open var name: String { "" }
    weak open var webView: WKWebView? { nil }
}

@MainActor open class WKNavigation: NSObject {}
@MainActor open class WKNavigationAction: NSObject {
    open var request: URLRequest { fatalError() }
    open var shouldPerformDownload: Bool { false }
}
@objc public enum WKNavigationActionPolicy: Int, Sendable { case cancel = 0, allow, download }
/// Swift imports methods with a completion handler in two forms. The `async` form is used here.
@MainActor @objc public protocol WKNavigationDelegate: NSObjectProtocol {
    @objc(webView:decidePolicyForNavigationAction:decisionHandler:) optional func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction) async -> WKNavigationActionPolicy
    @objc(webView:didStartProvisionalNavigation:) optional func webView(_ webView: WKWebView, didStartProvisionalNavigation navigation: WKNavigation!)
    @objc(webView:didCommitNavigation:) optional func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!)
    @objc(webView:didFinishNavigation:) optional func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!)
    @objc(webView:didFailNavigation:withError:) optional func webView(_ webView: WKWebView, didFail navigation: WKNavigation!, withError error: any Error)
    @objc optional func webViewWebContentProcessDidTerminate(_ webView: WKWebView)
}
