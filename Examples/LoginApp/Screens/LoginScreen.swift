import SwiftUI

/// The form. How long somebody takes to fill it in is in the transaction.
struct LoginScreen: View {
    @Bindable var form: LoginForm

    var body: some View {
        Form {
            Section {
                TextField("Name", text: $form.user)
                    .textContentType(.username)
                    .textInputAutocapitalization(.never)
                    .autocorrectionDisabled()
                SecureField("Password", text: $form.password)
                    .textContentType(.password)
                    .onSubmit(submit)
            } footer: {
                if case .failed(let message) = form.phase { Text(message).foregroundStyle(.red) }
            }
            Section {
                if form.phase == .sending { ProgressView() } else { Button("Log in", action: submit) }
            }
            .disabled(!form.canSubmit)
        }
        .navigationTitle("Log in")
        .onAppear { form.appear() }
        .onDisappear { form.disappear() }
    }

    private func submit() { Task { await form.submit() } }
}
