#if GRPC
public import GRPCCore
public import Waybill
import WaybillCore

/// An error of a call is recorded by its status, wherever an app hands it over: domain `grpc`, the code, and its name as
/// in `DEADLINE_EXCEEDED`. What was canceled counts as canceled.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension RPCError: TransactionError {
    public static var recordedDomain: String { GRPCStatus.domain }
    public var recordedCode: Int { code.rawValue }
    public var recordedName: String? { GRPCStatus.name(of: code.rawValue) }
    public var recordedUnderlying: (any Error)? { cause }
    public var recordedAsCanceled: Bool { code == .cancelled || cause is CancellationError }
}
#endif
