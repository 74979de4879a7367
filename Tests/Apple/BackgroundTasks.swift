// swift-format-ignore-file
// The declarations in use from BackgroundTasks.
@_exported import Foundation

open class BGTask: NSObject {
    open var identifier: String { "" }
    open var expirationHandler: (() -> Void)?
    open func setTaskCompleted(success: Bool) {}
}
open class BGAppRefreshTask: BGTask {}
open class BGTaskRequest: NSObject {
    open var earliestBeginDate: Date?
}
open class BGAppRefreshTaskRequest: BGTaskRequest { public init(identifier: String) {} }
open class BGTaskScheduler: NSObject, @unchecked Sendable {
    open class var shared: BGTaskScheduler { fatalError() }
    @discardableResult open func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?, launchHandler: @escaping (BGTask) -> Void
    ) -> Bool { false }
    open func submit(_ request: BGTaskRequest) throws {}
}
