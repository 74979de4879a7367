#if os(iOS) || os(macOS) || os(visionOS)
public import Waybill
import SwiftUI

#if os(macOS)
public import AppKit

extension NSViewController {
    /// Shows the inspector of a manager's store as a sheet over this view, until the user closes it.
    ///
    /// - Parameters:
    ///   - transactions: Whose store.
    ///   - hasControls: Whether recording and the manager's rules can be changed there. Default: nothing can.
    public func presentWaybillInspector(_ transactions: TransactionManager, hasControls: Bool = false) {
        weak var shown: NSViewController?
        let controller = NSHostingController(
            rootView: InspectorSheet(transactions: transactions, hasControls: hasControls) { [weak self] in
                if let shown { self?.dismiss(shown) }
            })
        shown = controller
        presentAsSheet(controller)
    }
}
#else
public import UIKit

extension UIViewController {
    /// Shows the inspector of a manager's store over this view, until the user closes it.
    ///
    /// - Parameters:
    ///   - transactions: Whose store.
    ///   - hasControls: Whether recording and the manager's rules can be changed there. Default: nothing can.
    public func presentWaybillInspector(_ transactions: TransactionManager, hasControls: Bool = false) {
        let sheet = InspectorSheet(transactions: transactions, hasControls: hasControls) { [weak self] in
            self?.dismiss(animated: true)
        }
        present(UIHostingController(rootView: sheet), animated: true)
    }
}
#endif
#endif
