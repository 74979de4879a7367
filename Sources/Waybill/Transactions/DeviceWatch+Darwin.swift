#if canImport(Darwin)
import Foundation
import Network
import WaybillCore

/// Keeps the device's state in the context, which explains why a transaction was slow or had no network.
final class DeviceWatch: Sendable {
    private let monitor = NWPathMonitor()
    private let observers = Locked<[any NSObjectProtocol]>([])

    init(_ context: TransactionContext) {
        let note = { @Sendable in
            let process = ProcessInfo.processInfo
            context["device.thermal"] = process.thermalState.name.map { .string($0) }
            context["device.low_power"] = process.isLowPowerModeEnabled ? .bool(true) : nil
        }
        for name in [ProcessInfo.thermalStateDidChangeNotification, .NSProcessInfoPowerStateDidChange] {
            let observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in note()
            }
            observers.withLock { $0.append(observer) }
        }
        monitor.pathUpdateHandler = { context["network.low_data"] = $0.isConstrained ? .bool(true) : nil }
        monitor.start(queue: .global(qos: .utility))
        note()
    }

    deinit {
        monitor.cancel()
        for observer in observers.withLock({ $0 }) { NotificationCenter.default.removeObserver(observer) }
    }
}

extension ProcessInfo.ThermalState {
    /// `nil` in the normal state.
    fileprivate var name: String? {
        switch self {
        case .nominal: nil
        case .fair: "fair"
        case .serious: "serious"
        case .critical: "critical"
        @unknown default: "unknown"
        }
    }
}
#endif
