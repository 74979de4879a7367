public import Foundation
import WaybillCore

extension Process {
    private static let turn = Locked(())

    /// Starts the process while no other one is being started: swift-corelibs-foundation has crashed in `run()` when
    /// many were started at once.
    public func runAlone() throws { try Self.turn.withLock { _ in try run() } }
}
