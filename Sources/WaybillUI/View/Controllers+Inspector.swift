#if os(iOS) || os(macOS) || os(visionOS)
public import Waybill
import SwiftUI

#if os(macOS)
public import AppKit

extension NSViewController {
    /// Presents the inspector of a manager's store as a sheet. `hasControls` lets the user change recording and rules.
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
    /// Presents the inspector of a manager's store. `hasControls` lets the user change recording and rules.
    public func presentWaybillInspector(_ transactions: TransactionManager, hasControls: Bool = false) {
        let sheet = InspectorSheet(transactions: transactions, hasControls: hasControls) { [weak self] in
            self?.dismiss(animated: true)
        }
        present(UIHostingController(rootView: sheet), animated: true)
    }
}
#endif
#endif
