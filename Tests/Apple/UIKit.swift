// swift-format-ignore-file
// The declarations in use from UIKit. watchOS has the module, too, but without these.
@_exported import Foundation

#if !os(watchOS)
@MainActor open class UIResponder: NSObject {
    public override init() {}
    open var next: UIResponder? { nil }
    open var canBecomeFirstResponder: Bool { false }
    @discardableResult open func becomeFirstResponder() -> Bool { false }
    @discardableResult open func resignFirstResponder() -> Bool { false }
    open var isFirstResponder: Bool { false }
    open func motionBegan(_ motion: UIEvent.EventSubtype, with event: UIEvent?) {}
    open func motionEnded(_ motion: UIEvent.EventSubtype, with event: UIEvent?) {}
    open func motionCancelled(_ motion: UIEvent.EventSubtype, with event: UIEvent?) {}
    #if os(iOS) || os(visionOS)
    public nonisolated class var keyboardDidHideNotification: NSNotification.Name { fatalError() }
    #endif
}
@MainActor open class UIEvent: NSObject {
    @objc public enum EventSubtype: Int, Sendable { case none = 0, motionShake }
}

@MainActor open class UIView: UIResponder, NSCoding {
    public init(frame: CGRect) {}
    public required init?(coder: NSCoder) { nil }
    open var bounds: CGRect = .zero
    open var frame: CGRect = .zero
    open var window: UIWindow? { nil }
    open func didMoveToWindow() {}
    open var subviews: [UIView] { [] }
}
@MainActor open class UIWindow: UIView {
    public nonisolated class var didBecomeKeyNotification: NSNotification.Name { fatalError() }
}
@MainActor open class UITextField: UIView {
    public nonisolated class var textDidEndEditingNotification: NSNotification.Name { fatalError() }
}
@MainActor open class UITextView: UIView {
    public nonisolated class var textDidEndEditingNotification: NSNotification.Name { fatalError() }
}
@MainActor open class UIApplication: UIResponder {
    open class var shared: UIApplication { fatalError() }
    public nonisolated class var didBecomeActiveNotification: NSNotification.Name { fatalError() }
}
/// Swift imports methods with a completion handler in two forms. The `async` form is used here.
@MainActor @objc public protocol UIApplicationDelegate: NSObjectProtocol {
    @objc(application:handleEventsForBackgroundURLSession:completionHandler:) optional func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String) async
}

@MainActor open class UIViewController: UIResponder {
    public init(nibName: String?, bundle: Bundle?) {}
    public required init?(coder: NSCoder) { nil }
    open var view: UIView!
    open var presentedViewController: UIViewController? { nil }
    open func present(_ controller: UIViewController, animated: Bool, completion: (() -> Void)? = nil) {}
    open func dismiss(animated: Bool, completion: (() -> Void)? = nil) {}
    #if !os(tvOS)
    open var popoverPresentationController: UIPopoverPresentationController? { nil }
    #endif
}

#if !os(tvOS)
@MainActor open class UIPopoverPresentationController: NSObject {
    open var sourceView: UIView?
    open var sourceRect: CGRect = .zero
}
@MainActor open class UIActivity: NSObject {}
@MainActor open class UIActivityViewController: UIViewController {
    public init(activityItems: [Any], applicationActivities: [UIActivity]?) { super.init(nibName: nil, bundle: nil) }
    public required init?(coder: NSCoder) { nil }
}
#endif
#endif
