import Foundation

/// The seeds of a test that tries many histories: all of them, or the first quarter if the variable `SHORT` is set, as
/// in CI.
public func seeds(_ all: Range<Int>) -> Range<Int> {
    ProcessInfo.processInfo.environment["SHORT"] == nil ? all : all.lowerBound..<(all.lowerBound + (all.count + 3) / 4)
}
