import SwiftUI

/// What is behind the form.
struct WelcomeScreen: View {
    let user: String

    var body: some View {
        Text("Welcome back, \(user).").font(.title).navigationTitle("Home")
    }
}
