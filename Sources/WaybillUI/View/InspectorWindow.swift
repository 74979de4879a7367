#if os(macOS)
public import SwiftUI
public import Waybill

/// A window with the inspector, and an item in the Help menu that opens it, for a Mac app.
///
/// ## Usage
///
/// ```swift
/// WindowGroup { ContentView() }
/// WaybillInspectorWindow(transactions)
/// ```
public struct WaybillInspectorWindow: Scene {
    private let transactions: TransactionManager
    private let hasControls: Bool
    private static let id = "waybill"

    /// Creates a window for a manager's store. `hasControls` lets the user change recording and rules.
    public nonisolated init(_ transactions: TransactionManager, hasControls: Bool = false) {
        (self.transactions, self.hasControls) = (transactions, hasControls)
    }

    public var body: some Scene {
        Window("Waybill", id: Self.id) { WaybillInspectorView(transactions, hasControls: hasControls) }
            .commands { CommandGroup(after: .help) { OpenInspector(id: Self.id) } }
    }
}

private struct OpenInspector: View {
    let id: String
    @Environment(\.openWindow) private var openWindow

    var body: some View {
        Button("Show Recorded Transactions") { openWindow(id: id) }
            .keyboardShortcut("w", modifiers: [.command, .option, .shift])
    }
}
#endif
