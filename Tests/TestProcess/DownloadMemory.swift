import Foundation
import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Downloads a URL to a file, and prints the length and the peak memory of the process, in kilobytes.
struct DownloadMemory {
    enum Kind: String {
        case captured = "download-captured"
        case off = "download-off"
        case bare = "download-bare"
    }

    let kind: Kind
    let url: String

    func run() async throws {
        guard let url = URL(string: url) else { exit(64) }
        let file: URL
        switch kind {
        case .bare: (file, _) = try await URLSession(configuration: .ephemeral).download(from: url)
        case .captured, .off:
            let transactions = TransactionManager(store: .inMemory)
            transactions.recording = kind == .captured ? .on : .off
            (file, _) = try await transactions.perform(TestProcess.Login.self) { _ in
                try await transactions.session.download(from: url)
            }
        }
        defer { try? FileManager.default.removeItem(at: file) }
        print(try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0, peakKilobytes())
    }

    /// From Linux's `/proc/self/status`; 0 elsewhere. `getrusage` also counts the parent's memory before `exec`.
    private func peakKilobytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first).flatMap { Int($0) } ?? 0
    }
}
