#if Collector
import Foundation
import WaybillCore

/// The projects of a collector, each in a file of its own in one folder, opened when they are first asked for.
final class Projects: Sendable {
    private let folder: URL
    private let limits: CollectorLimits
    private let clock: any TransactionClock
    private let opened = Locked<[ProjectName: Project]>([:])
    /// Opening takes file work, which is not for the cooperative pool.
    private let opener = DispatchQueue(label: "waybill.projects")

    /// Opens those that are known from the start, so that what is wrong with them is told at once.
    init(
        _ names: Set<ProjectName>, in folder: URL, limits: CollectorLimits, clock: any TransactionClock
    ) throws(WaybillError) {
        self.folder = folder
        self.limits = limits
        self.clock = clock
        for name in names { _ = try open(name) }
    }

    /// The project of that name.
    func project(_ name: ProjectName) async throws(WaybillError) -> Project {
        if let project = opened(name) { return project }
        return try await withCheckedContinuation { continuation in
            opener.async { continuation.resume(returning: Result { () throws(WaybillError) in try self.open(name) }) }
        }.get()
    }

    /// The project of that name; nil where nothing was asked of it since the start.
    func opened(_ name: ProjectName) -> Project? { opened.withLock { $0[name] } }

    /// Those that are open.
    var all: [Project] { opened.withLock { Array($0.values) } }

    private func open(_ name: ProjectName) throws(WaybillError) -> Project {
        if let project = opened(name) { return project }
        let project = try Project(name, in: folder, limits: limits, clock: clock)
        opened.withLock { $0[name] = project }
        return project
    }
}
#endif
