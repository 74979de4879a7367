import Foundation

/// A file's bytes, moment by moment, sector by sector, and when they were synced.
struct FileHistory {
    /// The unit that a disk writes whole or not at all.
    private static let sectorSize = 512
    /// The unit that the system's cache writes at once, unless it is interrupted.
    private static let pageSize = 4096

    private var bytes: [UInt8] = []
    private var sectors: [Int: History<[UInt8]>] = [:]
    private var sizes = History<Int>()
    private var syncs = History<Int>()
    /// The moments when the file was shortened. A file system shortens a file whole or not at all: after a cut,
    /// everything in the file is from before the shortening, or everything is from after it.
    private var shrinks: [Int] = []

    mutating func sync(at moment: Int) { syncs.append(moment, at: moment) }

    mutating func write(_ new: UnsafeRawBufferPointer, at offset: Int, at moment: Int) {
        guard !new.isEmpty else { return }
        let end = offset + new.count
        if end > bytes.count { resize(to: end, at: moment) }
        bytes.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[offset..<end]).copyMemory(from: new) }
        note(offset..<end, at: moment)
    }

    mutating func resize(to size: Int, at moment: Int) {
        let old = bytes.count
        guard size != old else { return }
        if size < old {
            shrinks.append(moment)
            bytes.replaceSubrange(size..., with: [UInt8](repeating: 0, count: old - size))
            note(size..<old, at: moment)  // the removed bytes read as zeros when the file grows again
            bytes.removeLast(old - size)
        } else {
            bytes += [UInt8](repeating: 0, count: size - old)
        }
        sizes.append(size, at: moment)
    }

    /// Notes the changes in a file that SQLite does not write, and returns whether there are any.
    mutating func note(contents new: UnsafeRawBufferPointer, at moment: Int) -> Bool {
        let hadSize = sizes.last == new.count
        resize(to: new.count, at: moment)
        if sizes.last == nil { sizes.append(new.count, at: moment) }
        var hasChanged = !hadSize
        for start in stride(from: 0, to: new.count, by: Self.pageSize) {
            let page = start..<min(start + Self.pageSize, new.count)
            let isSame = bytes.withUnsafeBytes { old in
                guard let old = old.baseAddress, let new = new.baseAddress else { return true }
                return memcmp(old + page.lowerBound, new + page.lowerBound, page.count) == 0
            }
            if isSame { continue }
            hasChanged = true
            write(UnsafeRawBufferPointer(rebasing: new[page]), at: start, at: moment)
        }
        return hasChanged
    }

    private mutating func note(_ range: Range<Int>, at moment: Int) {
        for sector in range.lowerBound / Self.sectorSize...(range.upperBound - 1) / Self.sectorSize {
            let start = sector * Self.sectorSize
            let now = bytes.withUnsafeBytes { bytes in
                [UInt8](UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + Self.sectorSize, bytes.count)]))
            }
            if sectors[sector]?.last != now { sectors[sector, default: History()].append(now, at: moment) }
        }
    }

    /// The file's bytes after a power cut.
    func bytes(after cut: inout PowerCut) -> [UInt8] {
        let synced = syncs.value(at: cut.moment) ?? 0
        let seen = cut.instant(notBefore: synced)
        let certain = max(synced, shrinks.last { $0 <= seen } ?? 0)
        let latest = shrinks.first { $0 > seen }.map { $0 - 1 }
        let size = sizes.value(at: cut.instant(notBefore: certain, notAfter: latest)) ?? 0
        var found = [UInt8](repeating: 0, count: size)
        for start in stride(from: 0, to: size, by: Self.pageSize) {
            let (instant, isTorn) = (cut.instant(notBefore: certain, notAfter: latest), cut.isTorn())
            for start in stride(from: start, to: min(start + Self.pageSize, size), by: Self.sectorSize) {
                guard let course = sectors[start / Self.sectorSize] else { continue }
                guard
                    let sector = course.value(at: isTorn ? cut.instant(notBefore: certain, notAfter: latest) : instant)
                else { continue }
                sector.withUnsafeBytes { sector in
                    found.withUnsafeMutableBytes { found in
                        let end = min(start + sector.count, size)
                        UnsafeMutableRawBufferPointer(rebasing: found[start..<end])
                            .copyMemory(from: UnsafeRawBufferPointer(rebasing: sector[..<(end - start)]))
                    }
                }
            }
        }
        return found
    }
}
