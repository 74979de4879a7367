// swift-format-ignore-file
// The declarations in use from Security. Its Core Foundation classes are bridged.
@_exported import Foundation

public final class CFAllocator {}
public final class CFError {}
public typealias CFString = NSString
public typealias CFTypeRef = AnyObject
public final class SecTask {}
public func SecTaskCreateFromSelf(_ allocator: CFAllocator?) -> SecTask? { nil }
public func SecTaskCopyValueForEntitlement(
    _ task: SecTask, _ entitlement: CFString, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFTypeRef? { nil }
