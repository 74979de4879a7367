import Foundation
import WaybillCore

/// What the environment and the launch arguments ask for, in test builds that were told to listen; see
/// ``TransactionManager/Options/obeysLaunchSettings``.
struct LaunchSettings {
    var recording: RecordingMode?
    var delivery: Delivery?
    var store: StoreLocation?
    var correlatedHosts: [String]?
    /// What was asked for and cannot be done, without repeating what was said: it may hold a secret.
    var problems: [WaybillError] = []

    /// Nothing was asked for.
    init() {}

    /// Reads `WAYBILL_RECORDING=off` and its like, and `-WaybillRecording off` as Xcode's schemes have it; an argument
    /// wins over the environment.
    init(environment: [String: String], arguments: [String]) {
        let words = Words(environment: environment, arguments: arguments)
        if let word = words["Recording"] {
            recording = RecordingMode(rawValue: word.lowercased())
            if recording == nil { reject("Recording", "on or off") }
        }
        if let path = words["Store"] {
            if path.hasPrefix("/") {
                store = .directory(URL(filePath: path, directoryHint: .isDirectory))
            } else {
                reject("Store", "the full path of a folder")
            }
        }
        if let hosts = words["Hosts"] {
            correlatedHosts = hosts.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        readDelivery(words)
    }

    private mutating func readDelivery(_ words: Words) {
        let token = words["Token"]
        guard let address = words["Collector"] else {
            if token != nil {
                problems.append(
                    WaybillError(.setting, "WAYBILL_TOKEN was given without WAYBILL_COLLECTOR, and is ignored."))
            }
            return
        }
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host()?.isEmpty == false
        else {
            return reject("Collector", "an address such as https://collector.example.com")
        }
        delivery = .collector(url, token: token)
    }

    private mutating func reject(_ name: String, _ expected: String) {
        problems.append(
            WaybillError(
                .setting, "WAYBILL_\(name.uppercased()) (or -Waybill\(name)) must be \(expected); it is ignored."))
    }
}

/// The words that follow the names, wherever they stand.
private struct Words {
    let environment: [String: String]
    let arguments: [String]

    /// An empty one is as good as none in the environment, and a mistake as an argument.
    subscript(name: String) -> String? {
        if let index = arguments.lastIndex(of: "-Waybill\(name)") {
            return index + 1 < arguments.count ? arguments[index + 1] : ""
        }
        return environment["WAYBILL_\(name.uppercased())"].flatMap { $0.isEmpty ? nil : $0 }
    }
}
