package import WaybillExport

/// A page that says one thing: that something is not there, or cannot be read at the moment.
package struct MessagePage {
    private let title: String
    private let message: String
    private let depth: Int
    private let frame: InspectorFrame

    /// - Parameter depth: How many components the path has that was asked for.
    package init(_ title: String, _ message: String, depth: Int, in frame: InspectorFrame) {
        (self.title, self.message, self.depth, self.frame) = (title, message, depth, frame)
    }

    /// The whole document.
    package var html: HTML {
        let list = "\(String(repeating: "../", count: depth - 1))transactions"
        return frame.page(
            title, .none, depth: depth,
            main: "<h1>\(title)</h1>\n<p>\(message)</p>\n<p><a href=\"\(list)\">All transactions</a></p>\n")
    }
}
