import Foundation

extension RecordingDisk.State {
    /// Whether a file is SQLite's shared memory, which need not survive a power cut.
    static func isLostAnyway(_ path: String) -> Bool { path.hasSuffix("-shm") }

    /// Notes which files exist, and the contents of those that SQLite does not write, as one event.
    mutating func look(_ root: String) {
        let next = moment + 1
        var present: [String: RecordingDisk.Entry] = [root: .folder]
        var numbers: [ino_t: Int] = [:]
        for folder in [root] + subfolders(of: root) {
            for path in Self.entries(of: folder) where !Self.isLostAnyway(path) {
                var status = stat()
                guard lstat(path, &status) == 0 else { continue }
                if status.st_mode & S_IFMT == S_IFDIR {
                    present[path] = .folder
                    continue
                }
                // A renamed file is still the same file.
                let file = filesByNumber[status.st_ino] ?? numbers[status.st_ino] ?? files.count
                if file == files.count { files.append(FileHistory()) }
                numbers[status.st_ino] = file
                present[path] = .file(file)
                guard !databaseFiles.contains(path), let contents = try? Data(contentsOf: URL(filePath: path)) else {
                    continue
                }
                contents.withUnsafeBytes { if files[file].note(contents: $0, at: next) { moment = next } }
            }
        }
        filesByNumber = numbers
        for path in Set(names.keys).union(present.keys)
        where (names[path]?.last ?? .nothing) != (present[path] ?? .nothing) {
            names[path, default: History()].append(present[path] ?? .nothing, at: next)
            moment = next
        }
    }

    private func subfolders(of root: String) -> [String] {
        Self.entries(of: root).filter { path in
            var status = stat()
            return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        }
    }

    private static func entries(of folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted().map { folder + "/" + $0 }
    }

    /// The entries after a power cut: paths below the root, in no order, with their bytes; `nil` for a folder.
    func entries(after cut: inout PowerCut, _ root: String) -> [(path: String, bytes: [UInt8]?)] {
        var found: [(path: String, bytes: [UInt8]?)] = []
        var lostFolders: [String] = []
        // A folder's path sorts before the paths in it.
        for path in names.keys.sorted() where path != root && !lostFolders.contains(where: { path.hasPrefix($0 + "/") })
        {
            let certain =
                folderSyncs[String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.endIndex))]?.value(at: cut.moment)
                ?? 0
            let relative = String(path.dropFirst(root.count + 1))
            switch names[path]?.value(at: cut.instant(notBefore: certain)) {
            case .folder: found.append((relative, nil))
            case .file(let file): found.append((relative, files[file].bytes(after: &cut)))
            case .nothing, nil: if names[path]?.last == .folder { lostFolders.append(path) }
            }
        }
        return found
    }
}
