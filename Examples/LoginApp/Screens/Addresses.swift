import Foundation

/// Where the app finds its server and its collector. A device does not reach the Mac by `127.0.0.1`, as a simulator does:
/// put the Mac's name here, `my-mac.local`.
enum Addresses {
    static let server = URL(string: "http://127.0.0.1:8080") ?? URL(filePath: "/")
    static let collector = URL(string: "http://127.0.0.1:8477")
}
