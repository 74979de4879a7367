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

extension View {
    /// Shows the inspector of a manager's store as a sheet.
    ///
    /// - Parameters:
    ///   - transactions: Whose store.
    ///   - hasControls: Whether recording and the manager's rules can be changed there. Default: nothing can.
    ///   - isPresented: Whether the sheet is there; false again when it is closed.
    public func waybillInspector(
        _ transactions: TransactionManager, hasControls: Bool = false, isPresented: Binding<Bool>
    ) -> some View {
        sheet(isPresented: isPresented) {
            InspectorSheet(transactions: transactions, hasControls: hasControls) { isPresented.wrappedValue = false }
        }
    }

    /// Shows the inspector of a manager's store as a sheet when the device is shaken: on iOS, and in debug builds;
    /// elsewhere never. It has the controls.
    ///
    /// While a text field is edited a shake is the system's, which offers to undo.
    ///
    /// - Parameters:
    ///   - transactions: Whose store.
    ///   - opensOnShake: Whether it does.
    public func waybillInspector(_ transactions: TransactionManager, opensOnShake: Bool) -> some View {
        modifier(ShakenInspector(transactions: transactions, opensOnShake: opensOnShake))
    }
}

private struct ShakenInspector: ViewModifier {
    let transactions: TransactionManager
    let opensOnShake: Bool
    @State private var isPresented = false

    func body(content: Content) -> some View {
        #if DEBUG && os(iOS)
        content
            .background { if opensOnShake { ShakeDetector { isPresented = true } } }
            .waybillInspector(transactions, hasControls: true, isPresented: $isPresented)
        #else
        content
        #endif
    }
}

/// The inspector over what the app shows, with a button that closes it.
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
