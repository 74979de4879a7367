#if os(iOS) || os(macOS) || os(visionOS)
public import SwiftUI
public import Waybill
import WebKit

/// The inspector of this app's store: transactions, requests, queries and pending facts, live, with files to share.
///
/// ## Usage
///
/// ```swift
/// NavigationLink("Diagnostics") { WaybillInspectorView(transactions) }
/// ```
///
/// All data is redacted. The pages come from this process: nothing is loaded from elsewhere, and no port is opened.
public struct WaybillInspectorView: View {
    private let transactions: TransactionManager
    private let hasControls: Bool

    /// Creates a view of a manager's store. `hasControls` lets the user change recording and rules.
    public init(_ transactions: TransactionManager, hasControls: Bool = false) {
        (self.transactions, self.hasControls) = (transactions, hasControls)
    }

    public var body: some View {
        // Another manager needs another web view, and so does another answer to whether it has controls.
        InspectorWebView(transactions: transactions, hasControls: hasControls)
            .id([AnyHashable(ObjectIdentifier(transactions)), AnyHashable(hasControls)])
            .ignoresSafeArea(edges: .bottom)
    }
}

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

extension View {
    /// Presents the inspector of a manager's store as a sheet. `hasControls` lets the user change recording and rules.
    public func waybillInspector(
        _ transactions: TransactionManager, hasControls: Bool = false, isPresented: Binding<Bool>
    ) -> some View {
        sheet(isPresented: isPresented) {
            InspectorSheet(transactions: transactions, hasControls: hasControls) { isPresented.wrappedValue = false }
        }
    }

    /// Presents the inspector, with its controls, when the user shakes the device. It works on iOS only.
    ///
    /// It works in every configuration, also in the App Store: pass `true` only in builds for developers and testers.
    public func waybillInspector(_ transactions: TransactionManager, opensOnShake: Bool) -> some View {
        modifier(ShakenInspector(transactions: transactions, opensOnShake: opensOnShake))
    }
}

private struct ShakenInspector: ViewModifier {
    let transactions: TransactionManager
    let opensOnShake: Bool
    @State private var isPresented = false

    func body(content: Content) -> some View {
        #if os(iOS)
        content
            .background { if opensOnShake { ShakeDetector(isCovered: isPresented) { isPresented = true } } }
            .waybillInspector(transactions, hasControls: true, isPresented: $isPresented)
        #else
        content
        #endif
    }
}

struct InspectorSheet: View {
    let transactions: TransactionManager
    let hasControls: Bool
    let close: @MainActor () -> Void

    var body: some View {
        NavigationStack {
            WaybillInspectorView(transactions, hasControls: hasControls)
                .navigationTitle("Waybill")
                #if !os(macOS)
            .navigationBarTitleDisplayMode(.inline)
                #endif
                .toolbar {
                    ToolbarItem(placement: .confirmationAction) { Button("Done", action: close) }
                }
        }
        #if os(macOS)
        .frame(minWidth: 520, idealWidth: 900, minHeight: 480, idealHeight: 700)
        #endif
    }
}
#endif
