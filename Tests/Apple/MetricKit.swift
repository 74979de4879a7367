// swift-format-ignore-file
// The declarations in use from MetricKit.
@_exported import Foundation

open class MXMetaData: NSObject {
    open var applicationBuildVersion: String { "" }
}
open class MXDiagnostic: NSObject {
    open var metaData: MXMetaData { fatalError() }
    open var applicationVersion: String { "" }
}
open class MXCrashDiagnostic: MXDiagnostic {
    open var terminationReason: String? { nil }
    open var exceptionType: NSNumber? { nil }
    open var exceptionCode: NSNumber? { nil }
    open var signal: NSNumber? { nil }
}
open class MXDiagnosticPayload: NSObject {
    open var crashDiagnostics: [MXCrashDiagnostic]? { nil }
    open var timeStampBegin: Date { fatalError() }
    open var timeStampEnd: Date { fatalError() }
}
@objc public protocol MXMetricManagerSubscriber: NSObjectProtocol {
    @objc(didReceiveDiagnosticPayloads:) optional func didReceive(_ payloads: [MXDiagnosticPayload])
}
open class MXMetricManager: NSObject {
    open class var shared: MXMetricManager { fatalError() }
    open func add(_ subscriber: any MXMetricManagerSubscriber) {}
    open func remove(_ subscriber: any MXMetricManagerSubscriber) {}
}
