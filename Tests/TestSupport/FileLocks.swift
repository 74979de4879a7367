#if os(Linux)
public import Foundation

/// The files that a process has locked, by flock(2) or fcntl(2).
public enum FileLocks {
    /// The names of the files in a folder that a process has locked, according to its descriptors (man 5
    /// proc_pid_fdinfo). Foundation reads only 4 KB of `/proc/locks`, which is 77 locks.
    public static func held(by process: Int32, in folder: URL) throws -> [String] {
        var names: [UInt64: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: name).path)
            if let number = attributes[.systemFileNumber] as? NSNumber { names[number.uint64Value] = name }
        }
        let descriptors = "/proc/\(process)/fdinfo"
        let locks = try FileManager.default.contentsOfDirectory(atPath: descriptors).flatMap { descriptor in
            // A descriptor that is closed meanwhile holds no lock.
            let text = (try? String(contentsOfFile: "\(descriptors)/\(descriptor)", encoding: .utf8)) ?? ""
            return text.split(separator: "\n").filter { $0.hasPrefix("lock:") }
        }
        return Set(
            locks.compactMap { line in
                // lock: 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
                let words = line.split { $0 == " " || $0 == "\t" }
                return words.count > 6 ? words[6].split(separator: ":").last.flatMap { UInt64($0) } : nil
            }.compactMap { names[$0] }
        ).sorted()
    }
}
#endif
