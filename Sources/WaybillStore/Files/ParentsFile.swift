import CJournal

/// An open file that a forked child lets go of, with the locks on it and its mapping: they are its parent's.
///
/// What C keeps for all of them (forking.h) is there once: no other file uses it, and nothing here is inlined into one that
/// could.
final class ParentsFile: Sendable {
    private let index: Int32

    private static let watchesForks: Void = waybill_watch_forks()

    /// Registers an open file until this is let go of, which has to be before the file is closed.
    ///
    /// - Parameter mapping: Where it is mapped; `nil` if it is not.
    @inline(never)
    init(_ descriptor: Int32, mapping: UnsafeMutableRawBufferPointer? = nil) {
        _ = Self.watchesForks
        index = waybill_add_file(descriptor, mapping?.baseAddress, mapping?.count ?? 0)
    }

    @inline(never)
    deinit { waybill_remove_file(index) }
}
