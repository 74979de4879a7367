import CJournal
import Foundation
import WaybillAtomics
import WaybillCore

/// The word of the journal's header that tells how the process ended. `exit` sets it and, if requested, signal handlers
/// do.
///
/// The table in ending.h must exist once in a process, so nothing here may be inlined into another file.
struct EndMark {
    private let index: Int32

    /// Registers a word, valid until ``stop(_:)``, for the end of this process. `file` is `nil` if the word is mapped.
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

    @inline(never)
    static func watchExit() {
        guard !watchesExit.exchange(true) else { return }
        waybill_watch_exit { waybill_note(UInt64(waybill_end_exit)) }
    }

    @inline(never)
    func stop(_ word: UnsafeMutablePointer<UInt64>) { waybill_unwatch(index, word) }
}

extension JournalLayout {
    fileprivate var endSeal: UInt64 { JournalChecksum.mix(salt, UInt64(HeaderWord.end)) & ~Self.endMask }

    private static let endMask: UInt64 = 0xFFFF

    /// Returns how the process ended; `nil` if that is unknown. `boot` is the current boot.
    func end(_ words: [UInt64], boot: String) -> SourceEnd? {
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

    /// Returns an anonymous word for a boot of the device; 0 if the boot is unknown.
    func bootWord(_ boot: String) -> UInt64 {
        boot.isEmpty ? 0 : boot.utf8.reduce(salt) { JournalChecksum.mix($0, UInt64($1)) } | 1
    }

    static let signals: [Int32: String] = [
        SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
        SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGSEGV: "SIGSEGV", SIGSYS: "SIGSYS",
        SIGPIPE: "SIGPIPE", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU",
    ]
}
