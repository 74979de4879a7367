#if os(Linux)
public import Foundation

/// What a process has locked, by flock(2) or fcntl(2).
public enum FileLocks {
    /// The names of the files in a folder of which a process that stands still has a lock, as the system says (man 5
    /// proc_locks). It is asked several times: while others lock and unlock, a reader of its table misses lines.
    public static func held(by process: Int32, in folder: URL) throws -> [String] {
        var names: [UInt64: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: name).path)
            if let number = attributes[.systemFileNumber] as? NSNumber { names[number.uint64Value] = name }
        }
        let table = try (0..<10).map { _ in try String(contentsOfFile: "/proc/locks", encoding: .utf8) }.joined()
        return Set(
            table.split(separator: "\n").compactMap { line in
                // 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
                let words = line.split(separator: " ")
                guard words.count > 5, words[4] == "\(process)",
                    let inode = words[5].split(separator: ":").last.flatMap({ UInt64($0) })
                else { return nil }
                return names[inode]
            }
        ).sorted()
    }
}
#endif
