/// Which files a store's names stand for at a moment: another set of them is another store, however much the open ones
/// can still be written to.
struct StoreFiles: Hashable {
    private let identities: [StoreFile.Identity?]

    init(of place: ResolvedLocation) {
        identities = place.path.map { path in ["", "-wal", "-lock"].map { StoreFile(path: path + $0).identity } } ?? []
    }
}
