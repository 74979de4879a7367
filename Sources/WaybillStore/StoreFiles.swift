import Foundation

/// Which files a store's names stand for at a moment: another set of them is another store, however much the open ones can still be written to.
struct StoreFiles: Hashable {
    private let place: StorePlace
    private let numbers: [UInt64]

    init(of place: StorePlace) {
        self.place = place
        numbers = place.path.map { path in ["", "-wal", "-lock"].flatMap { Self.numbers(of: path + $0) } } ?? []
    }

    /// Device and file; zeros where there is none.
    private static func numbers(of path: String) -> [UInt64] {
        var about = stat()
        guard stat(path, &about) == 0 else { return [0, 0] }
        return [UInt64(truncatingIfNeeded: about.st_dev), UInt64(truncatingIfNeeded: about.st_ino)]
    }
}
