#if os(iOS) || os(macOS) || os(visionOS)
public import SwiftUI
public import Waybill
import WebKit

/// The inspector of this app's own store: transactions, requests, questions, and what waits for delivery, live, with
/// files to share.
///
/// ## Usage
///
/// ```swift
/// NavigationLink("Diagnostics") { WaybillInspectorView(transactions) }
/// ```
///
/// Everything shown was redacted by the manager's rules. The pages are made in this process; nothing is loaded from
/// elsewhere, no port is opened, and nothing is kept on the disk but the files that the user shares, until the view goes.
public struct WaybillInspectorView: View {
    private let transactions: TransactionManager
    private let hasControls: Bool

    /// Shows the store of a manager.
    ///
    /// - Parameters:
    ///   - transactions: Kept for as long as the view is.
    ///   - hasControls: Whether recording and the manager's rules can be changed there, for a debug build or for testers.
    ///     Default: nothing can.
    public init(_ transactions: TransactionManager, hasControls: Bool = false) {
        (self.transactions, self.hasControls) = (transactions, hasControls)
    }

    public var body: some View {
        // Another manager's is another web view.
        InspectorWebView(transactions: transactions, hasControls: hasControls).id(ObjectIdentifier(transactions))
            .ignoresSafeArea(edges: .bottom)
    }
}

/// The web view as SwiftUI has it. The browser is the coordinator, and lives as long as the view.
struct InspectorWebView {
    let transactions: TransactionManager
    let hasControls: Bool

    @MainActor func makeCoordinator() -> InspectorBrowser { InspectorBrowser(transactions, hasControls: hasControls) }
}

#if os(macOS)
extension InspectorWebView: NSViewRepresentable {
    func makeNSView(context: Context) -> WKWebView { context.coordinator.view }
    func updateNSView(_ view: WKWebView, context: Context) {}
}
#else
extension InspectorWebView: UIViewRepresentable {
    func makeUIView(context: Context) -> WKWebView { context.coordinator.view }
    func updateUIView(_ view: WKWebView, context: Context) {}
}
#endif
#endif
