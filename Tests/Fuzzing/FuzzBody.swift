import CFuzzer
import Foundation

/// Gives libFuzzer's bytes to the redactor of bodies.
@main enum FuzzBody {
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
        try BodyBytes.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
    } catch {
        fatalError("\(error)")
    }
    return 0
}
