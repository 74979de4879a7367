#if Collector
import Foundation

/// What the process takes of the machine.
enum ProcessMemory {
    /// Bytes that are in memory; nil where the system does not tell in a file (proc(5), `statm`).
    static var residentByteCount: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .ascii) else { return nil }
        let words = text.split(separator: " ")
        return words.count > 1 ? Int(words[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }
}
#endif
