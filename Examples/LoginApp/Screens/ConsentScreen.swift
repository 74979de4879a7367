import SwiftUI

/// Asked before anything is recorded; cannot be passed without an answer.
struct ConsentScreen: View {
    let consent: Consent

    var body: some View {
        VStack(alignment: .leading, spacing: 16) {
            Text("Help us find what goes wrong?").font(.headline)
            Text("The app would record how a login went and how long it took, on this device, and send it to us.")
            Text("Never your name or password. You can change your mind under Diagnostics.").foregroundStyle(.secondary)
            HStack {
                Button("No, thanks") { consent.answer(false) }
                Button("Yes") { consent.answer(true) }.buttonStyle(.borderedProminent)
            }
        }
        .padding()
        .interactiveDismissDisabled()
    }
}
