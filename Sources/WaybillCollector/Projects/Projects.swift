#if Collector
import Foundation
import WaybillCore

/// The projects of a collector, opened when they are first asked for.
final class Projects: Sendable {
    private let make: @Sendable (ProjectName) throws(WaybillError) -> Project
    private let opened = Locked<[ProjectName: Project]>([:])
    /// Opening takes file work, which is not for the cooperative pool.
    private let opener = DispatchQueue(label: "waybill.projects")

    /// Opens those that are known from the start, so that what is wrong with them is told at once.
    ///
    /// - Parameter make: Opens one; may block.
    init(
        _ names: Set<ProjectName>, _ make: @escaping @Sendable (ProjectName) throws(WaybillError) -> Project
    ) throws(WaybillError) {
        self.make = make
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
        let project = try make(name)
        opened.withLock { $0[name] = project }
        return project
    }
}
#endif
