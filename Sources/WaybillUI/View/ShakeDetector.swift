#if os(iOS)
import SwiftUI
import UIKit

/// Detects shakes as the first responder, without replacing methods of the app's classes.
struct ShakeDetector: UIViewRepresentable {
    /// Whether the inspector is open. Its end is a reason to listen again.
    let isCovered: Bool
    let act: () -> Void

    func makeUIView(context: Context) -> ShakenView { ShakenView() }

    func updateUIView(_ view: ShakenView, context: Context) {
        view.act = act
        if !isCovered { view.listenSoon() }
    }
}

/// Receives motions while nothing else, such as a text field, is the first responder.
final class ShakenView: UIView {
    var act: () -> Void = {}

    /// The events after which another view, such as a sheet's text field, may no longer be the first responder.
    private static let occasions = [
        UIResponder.keyboardDidHideNotification, UITextField.textDidEndEditingNotification,
        UITextView.textDidEndEditingNotification, UIWindow.didBecomeKeyNotification,
        UIApplication.didBecomeActiveNotification,
    ]

    init() {
        super.init(frame: .zero)
        for name in Self.occasions {
            NotificationCenter.default.addObserver(self, selector: #selector(listenSoon), name: name, object: nil)
        }
    }

    @available(*, unavailable, message: "It is made in code alone.")
    required init?(coder: NSCoder) { nil }

    override var canBecomeFirstResponder: Bool { true }

    override func didMoveToWindow() {
        super.didMoveToWindow()
        listenSoon()
    }

    /// Waits for the next turn, since a field that ends editing is often followed by another one.
    @objc func listenSoon() {
        DispatchQueue.main.async { [weak self] in self?.listenAgain() }
    }

    private func listenAgain() {
        guard let window, !isFirstResponder, !Self.hasFirstResponder(window) else { return }
        becomeFirstResponder()
    }

    private static func hasFirstResponder(_ window: UIWindow) -> Bool {
        var views: [UIView] = [window]
        while let view = views.popLast() {
            if view.isFirstResponder { return true }
            views += view.subviews
        }
        return false
    }

    override func motionEnded(_ motion: UIEvent.EventSubtype, with event: UIEvent?) {
        if motion == .motionShake { act() } else { super.motionEnded(motion, with: event) }
    }
}
#endif
