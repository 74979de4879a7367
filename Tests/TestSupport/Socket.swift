import Foundation

/// An open TCP socket, closed on release.
final class Socket: Sendable {
    let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        closeOnExec(descriptor)
        #if canImport(Darwin)
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    deinit { close(descriptor) }

    /// Makes closing it send a reset: data in transit is discarded, and the peer sees an error.
    func resetsWhenClosed() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    /// A socket bound to a free port of 127.0.0.1, and that port.
    static func boundToLoopback() throws -> (Socket, port: Int) {
        #if canImport(Darwin)
        let stream = SOCK_STREAM
        #else
        let stream = Int32(SOCK_STREAM.rawValue)
        #endif
        let descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { throw POSIXError.current }
        let result = Socket(descriptor)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 ? getsockname(descriptor, $0, &size) : -1
            }
        }
        guard status == 0 else { throw POSIXError.current }
        return (result, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Returns the next connection; `nil` once the gate is open.
    func accept(until gate: Gate) -> Socket? {
        while wait(for: POLLIN, until: gate) {
            let connection = Foundation.accept(descriptor, nil, nil)
            if connection >= 0 { return Socket(connection) }
        }
        return nil
    }

    /// Waits until the socket is ready; returns `false` once one of the gates is open.
    func wait(for events: Int32, until gates: Gate...) -> Bool {
        var polled = [pollfd(fd: descriptor, events: Int16(events), revents: 0)]
        polled += gates.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while poll(&polled, nfds_t(polled.count), -1) < 0 && errno == EINTR {}
        return polled.dropFirst().allSatisfy { $0.revents == 0 }
    }
}

extension POSIXError {
    /// The error in `errno`.
    static var current: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
