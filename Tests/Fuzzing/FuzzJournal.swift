import CFuzzer
import Foundation

/// Gives libFuzzer's bytes to the reader of journals, as a file.
@main enum FuzzJournal {
    /// A file that this process alone writes.
    static let path =
        FileManager.default.temporaryDirectory.path + "/waybill-fuzz-\(ProcessInfo.processInfo.processIdentifier)"

    static func main() {
        // SwiftPM chooses the entry point, so that libFuzzer's own `main` is never reached.
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments, fuzz))
    }
}

/// Under the name that libFuzzer's `main` links, too.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        _ = try JournalBytes.check(Array(UnsafeBufferPointer(start: bytes, count: count)), at: FuzzJournal.path)
    } catch {
        fatalError("\(error)")
    }
    return 0
}
