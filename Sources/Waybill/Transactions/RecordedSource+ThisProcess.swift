import Foundation
import WaybillCore

extension RecordedSource {
    /// Describes this process: app and version from the bundle where there is one, else the executable's name.
    static func thisProcess(id: GUID, app: String?, appVersion: String?, attributes: Attributes) -> RecordedSource {
        let bundle = Bundle.main
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return RecordedSource(
            id: id,
            app: label(app ?? bundle.bundleIdentifier ?? ProcessInfo.processInfo.processName),
            appVersion: label(appVersion ?? bundle.infoDictionary?["CFBundleShortVersionString"] as? String ?? ""),
            device: label(machine),
            os: operatingSystem,
            osVersion: "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)",
            attributes: attributes)
    }

    private static func label(_ text: String) -> String { text.cut(to: Limits.labelLength) ?? text }

    private static var operatingSystem: String {
        #if os(iOS)
        "iOS"
        #elseif os(macOS)
        "macOS"
        #elseif os(tvOS)
        "tvOS"
        #elseif os(watchOS)
        "watchOS"
        #elseif os(visionOS)
        "visionOS"
        #elseif os(Linux)
        "Linux"
        #else
        "other"
        #endif
    }

    /// The model of an Apple device (`iPhone17,1`, `Mac16,1`; of a simulator, what it stands for), the processor's
    /// architecture elsewhere.
    private static var machine: String {
        #if targetEnvironment(simulator)
        if let model = ProcessInfo.processInfo.environment["SIMULATOR_MODEL_IDENTIFIER"] { return model }
        #elseif os(macOS) || targetEnvironment(macCatalyst)
        // uname(3) has the architecture there.
        var length = 0
        if sysctlbyname("hw.model", nil, &length, nil, 0) == 0 {
            var model = [UInt8](repeating: 0, count: length)
            if sysctlbyname("hw.model", &model, &length, nil, 0) == 0 {
                return String(decoding: model.prefix { $0 != 0 }, as: UTF8.self)
            }
        }
        #endif
        var system = utsname()
        guard uname(&system) == 0 else { return "" }
        return withUnsafeBytes(of: system.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
