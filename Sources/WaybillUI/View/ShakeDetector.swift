#if DEBUG && os(iOS)
import SwiftUI
import UIKit

/// Notices that the device is shaken, by the first responder's way: no method of the app's classes is replaced for it.
struct ShakeDetector: UIViewRepresentable {
    let act: () -> Void

    func makeUIView(context: Context) -> ShakenView { ShakenView() }
    func updateUIView(_ view: ShakenView, context: Context) { view.act = act }
}

/// Takes the motions of the device for as long as nothing else is the first responder: a field that is edited is.
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

    /// A field that was edited has let go of it.
    @objc private func listenAgain() { if window != nil { becomeFirstResponder() } }

    override func motionEnded(_ motion: UIEvent.EventSubtype, with event: UIEvent?) {
        if motion == .motionShake { act() } else { super.motionEnded(motion, with: event) }
    }
}
#endif
