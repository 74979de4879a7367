// swift-format-ignore-file
// The declarations in use from AppKit.
@_exported import Foundation

// Foundation has these only on Macs. They are here to keep Foundation the same on all platforms.
public typealias NSRect = CGRect

@MainActor open class NSResponder: NSObject {
    public override init() {}
}
@MainActor open class NSView: NSResponder, NSCoding {
    public init(frame: NSRect) {}
    public required init?(coder: NSCoder) { nil }
    open var bounds: NSRect = .zero
    open var frame: NSRect = .zero
    open var window: NSWindow? { nil }
}
@MainActor open class NSViewController: NSResponder {
    public init(nibName: String?, bundle: Bundle?) {}
    public required init?(coder: NSCoder) { nil }
    open var view: NSView { get { fatalError() } set {} }
    open var presentedViewControllers: [NSViewController]? { nil }
    open func presentAsSheet(_ controller: NSViewController) {}
    open func dismiss(_ controller: NSViewController) {}
}
@MainActor open class NSWindow: NSResponder {}
@MainActor open class NSApplication: NSResponder {
    public struct ModalResponse: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static let OK = ModalResponse(rawValue: 1), cancel = ModalResponse(rawValue: 0)
    }
}
@MainActor open class NSSavePanel: NSObject {
    public override init() {}
    open var nameFieldStringValue: String { get { "" } set {} }
    open var url: URL? { nil }
    open func beginSheetModal(for window: NSWindow) async -> NSApplication.ModalResponse { .OK }
    open func begin() async -> NSApplication.ModalResponse { .OK }
}
@MainActor open class NSAlert: NSObject {
    public convenience init(error: any Error) { fatalError() }
    @discardableResult open func runModal() -> NSApplication.ModalResponse { .OK }
}
