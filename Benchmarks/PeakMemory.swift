import Foundation

/// The peak memory of this process, from Linux's `/proc/self`; 0 elsewhere.
enum PeakMemory {
    static func megabytes() -> Double {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0) / 1024
    }

    /// Restarts the measurement from now on (proc(5), "clear_refs").
    static func reset() throws {
        #if os(Linux)
        try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        #endif
    }
}
