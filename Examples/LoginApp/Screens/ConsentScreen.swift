import SwiftUI

/// The question that the app asks before it records anything. The user can't dismiss it without an answer.
struct ConsentScreen: View {
    let consent: Consent

    var body: some View {
        ScrollView {
            VStack(alignment: .leading, spacing: 16) {
                Text("Help us find what goes wrong?").font(.headline)
                Text("The app would record how a login went and how long it took, on this device, and send it to us.")
                Text("Never your name or password. You can change your mind under Diagnostics.")
                    .foregroundStyle(.secondary)
                // Side by side, as long as the text size leaves room.
                ViewThatFits {
                    HStack { answers }
                    VStack(alignment: .leading) { answers }
                }
            }
            .padding()
        }
        .presentationDetents([.medium, .large])
        .interactiveDismissDisabled()
    }

    @ViewBuilder private var answers: some View {
        Button("No, thanks") { consent.answer(false) }
        Button("Yes") { consent.answer(true) }.buttonStyle(.borderedProminent)
    }
}

#Preview {
    ConsentScreen(consent: .preview)
}
