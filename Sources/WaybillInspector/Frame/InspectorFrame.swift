package import Foundation
package import WaybillCore
import WaybillExport

/// What is around the content of every page of the inspector, and the same on all of them.
package struct InspectorFrame: Sendable {
    /// Whose store is shown: a project's name, or a file's.
    package var store: String
    /// Whether the reader has logged in, and so can log out.
    package var isLoggedIn: Bool
    /// Whether there is a page on which this process can be changed.
    var hasControls: Bool
    /// Times are shown in this zone, and every page says so.
    package var timeZone: TimeZone
    /// When the page is made, which decides between summer and winter time in what it says of its times.
    package var clock: any TransactionClock

    /// - Parameter timeZone: Default: the one of this machine.
    package init(
        store: String, isLoggedIn: Bool, hasControls: Bool = false, timeZone: TimeZone = .current,
        clock: any TransactionClock = SystemClock()
    ) {
        self.store = store
        self.isLoggedIn = isLoggedIn
        self.hasControls = hasControls
        self.timeZone = timeZone
        self.clock = clock
    }

    /// A page in this frame.
    func page(_ title: String, _ tab: InspectorPage.Tab, depth: Int = 1, main: HTML) -> HTML {
        InspectorPage(title: title, tab: tab, depth: depth, frame: self, main: main).html
    }
}
