#if os(iOS) || os(macOS) || os(visionOS)
public import SwiftUI
public import Waybill

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
#endif
