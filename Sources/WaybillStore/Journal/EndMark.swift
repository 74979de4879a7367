import CJournal
import Foundation
import WaybillAtomics
import WaybillCore

/// Where a journal notes how its process ended: one word of its header, which `exit` sets and, where that is asked for,
/// the handler of a signal.
///
/// A process that is killed sets nothing. What C keeps for all journals (ending.h) is there once: no other file uses it,
/// and nothing here is inlined into one that could.
struct EndMark {
    private let index: Int32

    /// Has the end of this process noted in a journal, and sets the word to what it says where nothing is.
    ///
    /// - Parameters:
    ///   - word: In memory; stays there until ``stop(_:)``.
    ///   - layout: The journal's.
    ///   - file: Where the word has to be written besides; nil: it gets into the file by itself.
    ///   - catchesSignals: Whether signals that end the process are noted, too; from now on they are for all journals
    ///     of the process.
    @inline(never)
    init(_ word: UnsafeMutablePointer<UInt64>, _ layout: JournalLayout, file: Int32?, catchesSignals: Bool) {
        let isCaught = catchesSignals || Self.catchesSignals.load(ordering: .relaxed)
        word.pointee = layout.endSeal | UInt64(isCaught ? waybill_end_unseen : waybill_end_unwatched)
        Self.watchExit()
        if catchesSignals, !Self.catchesSignals.exchange(true) { waybill_catch_signals() }
        index = waybill_watch(
            word, layout.endSeal, file ?? -1, off_t(JournalLayout.HeaderWord.end * MemoryLayout<UInt64>.size))
        if index < 0 { word.pointee = layout.endSeal | UInt64(waybill_end_unwatched) }
    }

    private static let watchesExit = Atomic(false)
    private static let catchesSignals = Atomic(false)

    /// Has `exit` note the end of the process in each journal.
    @inline(never)
    static func watchExit() {
        guard !watchesExit.exchange(true) else { return }
        waybill_watch_exit { waybill_note(UInt64(waybill_end_exit)) }
    }

    /// Nothing more is noted in the word.
    @inline(never)
    func stop(_ word: UnsafeMutablePointer<UInt64>) { waybill_unwatch(index, word) }
}

extension JournalLayout {
    /// The upper bits of the word that says how the process ended: what else stands there is damage.
    fileprivate var endSeal: UInt64 { JournalChecksum.mix(salt, UInt64(HeaderWord.end)) & ~Self.endMask }

    private static let endMask: UInt64 = 0xFFFF

    /// What the header's words say of how the process ended; nil: nothing that could be told.
    ///
    /// - Parameter boot: The present one.
    func end(_ words: [UInt64], boot: String) -> SourceEnd? {
        guard words[HeaderWord.version] > 1 else { return nil }
        let noted = words[HeaderWord.end]
        let then = words[HeaderWord.boot]
        let isOtherBoot = then != 0 && bootWord(boot) != 0 && then != bootWord(boot)
        let unwatched: SourceEnd? = isOtherBoot ? .reboot : nil
        guard noted & ~Self.endMask == endSeal else { return unwatched }
        switch noted & Self.endMask {
        case UInt64(waybill_end_exit): return .exit
        case UInt64(waybill_end_unseen): return isOtherBoot ? .reboot : .system
        case let number: return Self.signals[Int32(number)].map { .signal($0) } ?? unwatched
        }
    }

    /// Stands for a boot of the device, which it tells nobody.
    ///
    /// - Parameter boot: The system's ID of it; empty: it does not say.
    /// - Returns: 0 where the system does not say.
    func bootWord(_ boot: String) -> UInt64 {
        boot.isEmpty ? 0 : boot.utf8.reduce(salt) { JournalChecksum.mix($0, UInt64($1)) } | 1
    }

    /// The signals that are caught.
    private static let signals: [Int32: String] = [
        SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
        SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGSEGV: "SIGSEGV", SIGSYS: "SIGSYS",
        SIGPIPE: "SIGPIPE", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU",
    ]
}
