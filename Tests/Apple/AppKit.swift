// swift-format-ignore-file
// What is used of AppKit.
@_exported import Foundation

// Foundation has them, on Macs alone; here, so that Foundation is the same on all platforms.
public typealias NSRect = CGRect
@objc public enum NSRectEdge: UInt, Sendable { case minX = 0, minY, maxX, maxY }

@MainActor open class NSResponder: NSObject {
    public override init() {}
}
@MainActor open class NSView: NSResponder, NSCoding {
    public init(frame: NSRect) {}
    public required init?(coder: NSCoder) { nil }
    open var bounds: NSRect = .zero
    open var frame: NSRect = .zero
}
@MainActor open class NSViewController: NSResponder {
    public init(nibName: String?, bundle: Bundle?) {}
    public required init?(coder: NSCoder) { nil }
    open var view: NSView { get { fatalError() } set {} }
    open var presentedViewControllers: [NSViewController]? { nil }
    open func presentAsSheet(_ controller: NSViewController) {}
    open func dismiss(_ controller: NSViewController) {}
}
@MainActor open class NSSharingServicePicker: NSObject {
    public init(items: [Any]) {}
    open func show(relativeTo rect: NSRect, of view: NSView, preferredEdge: NSRectEdge) {}
}
