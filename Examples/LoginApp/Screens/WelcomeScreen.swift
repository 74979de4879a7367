import SwiftUI

/// The screen after the login.
struct WelcomeScreen: View {
    let user: String

    var body: some View {
        Text("Welcome back, \(user).").font(.title).navigationTitle("Home")
    }
}

#Preview {
    NavigationStack { WelcomeScreen(user: "Ada") }
}
