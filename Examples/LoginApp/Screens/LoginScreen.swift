import SwiftUI

/// The form. The transaction contains the time that the user takes to fill it in.
struct LoginScreen: View {
    @Bindable var form: LoginForm
    @FocusState private var focus: Field?

    private enum Field: Hashable { case name, password }

    var body: some View {
        Form {
            Section {
                TextField("Name", text: $form.user)
                    .textContentType(.username)
                    .textInputAutocapitalization(.never)
                    .autocorrectionDisabled()
                    .focused($focus, equals: .name)
                    .submitLabel(.next)
                    .onSubmit { focus = .password }
                SecureField("Password", text: $form.password)
                    .textContentType(.password)
                    .focused($focus, equals: .password)
                    .submitLabel(.go)
                    .onSubmit(submit)
            } footer: {
                if case .failed(let message) = form.phase { Text(message).foregroundStyle(.red) }
            }
            Section {
                if form.phase == .sending {
                    ProgressView("Logging in")
                } else {
                    Button("Log in", action: submit).disabled(!form.canSubmit)
                }
            }
        }
        .navigationTitle("Log in")
        .onAppear { form.appear() }
        .onDisappear { form.disappear() }
        .onChange(of: form.phase) { _, phase in
            // VoiceOver does not read a text that appears elsewhere on the screen.
            if case .failed(let message) = phase { AccessibilityNotification.Announcement(message).post() }
        }
    }

    private func submit() {
        focus = nil
        Task { await form.submit() }
    }
}

#Preview {
    NavigationStack { LoginScreen(form: .preview) }
}
