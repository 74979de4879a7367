import Foundation

/// The addresses of the server and the collector. `127.0.0.1` is the Mac only in a simulator. For a device, use the Mac's
/// name, such as `my-mac.local`.
enum Addresses {
    static let server = URL(string: "http://127.0.0.1:8080") ?? URL(filePath: "/")
    static let collector = URL(string: "http://127.0.0.1:8477")
}
