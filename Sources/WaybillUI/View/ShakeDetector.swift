#if DEBUG && os(iOS)
import SwiftUI
import UIKit

/// Detects shakes as the first responder, without replacing methods of the app's classes.
struct ShakeDetector: UIViewRepresentable {
    let act: () -> Void

    func makeUIView(context: Context) -> ShakenView { ShakenView() }
    func updateUIView(_ view: ShakenView, context: Context) { view.act = act }
}

/// Receives motions while nothing else, such as a text field, is the first responder.
final class ShakenView: UIView {
    var act: () -> Void = {}

    init() {
        super.init(frame: .zero)
        NotificationCenter.default.addObserver(
            self, selector: #selector(listenAgain), name: UIResponder.keyboardDidHideNotification, object: nil)
    }

    @available(*, unavailable, message: "It is made in code alone.")
    required init?(coder: NSCoder) { nil }

    override var canBecomeFirstResponder: Bool { true }

    override func didMoveToWindow() {
        super.didMoveToWindow()
        listenAgain()
    }

    @objc private func listenAgain() { if window != nil { becomeFirstResponder() } }

    override func motionEnded(_ motion: UIEvent.EventSubtype, with event: UIEvent?) {
        if motion == .motionShake { act() } else { super.motionEnded(motion, with: event) }
    }
}
#endif
