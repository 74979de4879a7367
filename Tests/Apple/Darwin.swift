// swift-format-ignore-file
// The declarations in use from Swift's overlay of the C library, beyond its headers (darwin.h).
@_exported import SwiftGlibc

public var errno: Int32 {
    get { 0 }
    set {}
}
public func erfc(_ value: Double) -> Double { value }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { -1 }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { -1 }
public func fcntl(_ descriptor: Int32, _ command: Int32) -> Int32 { -1 }
public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32) -> Int32 { -1 }
public func fcntl(_ descriptor: Int32, _ command: Int32, _ pointer: UnsafeMutableRawPointer) -> Int32 { -1 }
public var CLOCK_REALTIME: clockid_t { _CLOCK_REALTIME }
public var CLOCK_MONOTONIC: clockid_t { _CLOCK_MONOTONIC }
public var CLOCK_MONOTONIC_RAW: clockid_t { _CLOCK_MONOTONIC_RAW }
public var CLOCK_UPTIME_RAW: clockid_t { _CLOCK_UPTIME_RAW }
public var CLOCK_PROCESS_CPUTIME_ID: clockid_t { _CLOCK_PROCESS_CPUTIME_ID }
public var CLOCK_THREAD_CPUTIME_ID: clockid_t { _CLOCK_THREAD_CPUTIME_ID }
public var S_IFMT: mode_t { 0o170000 }
public var S_IFDIR: mode_t { 0o040000 }
public var S_IFREG: mode_t { 0o100000 }
public var S_IFCHR: mode_t { 0o020000 }
public var S_IFIFO: mode_t { 0o010000 }
public var S_IFLNK: mode_t { 0o120000 }
public var S_IRWXU: mode_t { 0o700 }
public var S_IRWXG: mode_t { 0o070 }
public var S_IRWXO: mode_t { 0o007 }
public var S_IRUSR: mode_t { 0o400 }
public var S_IWUSR: mode_t { 0o200 }
public var S_IWGRP: mode_t { 0o020 }
public var S_IWOTH: mode_t { 0o002 }
public var MAP_FAILED: UnsafeMutableRawPointer! { UnsafeMutableRawPointer(bitPattern: -1) }

public enum POSIXErrorCode: Int32, Sendable {
    case EPERM = 1, ENOENT = 2, EINTR = 4, EIO = 5, EBADF = 9, ENOMEM = 12, EACCES = 13, EEXIST = 17, ENOTDIR = 20, EISDIR = 21, EINVAL = 22
    case EMFILE = 24, EFBIG = 27, ENOSPC = 28, EROFS = 30, EPIPE = 32, EAGAIN = 35, ENOTSUP = 45, ELOOP = 62, ENAMETOOLONG = 63, EDQUOT = 69
    public static var EWOULDBLOCK: POSIXErrorCode { EAGAIN }
}
