public import Foundation
import WaybillCore

extension Process {
    private static let turn = Locked(())

    /// Starts it while no other one is being started: swift-corelibs-foundation was seen to crash in `run()` where many
    /// were at once.
    public func runAlone() throws { try Self.turn.withLock { _ in try run() } }
}
