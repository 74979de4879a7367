import Foundation
import WaybillCore

/// Something a test opens once, while servers and tests wait for it: this orders events without a sleep.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())
    private let ends = DescriptorPair()

    /// Makes a closed gate.
    public init() {}

    /// Lets everybody through, now and later.
    public func open() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isOpen = true
            return state.waiting
        }
        ends.closeWriteEnd()
        for body in waiting { body() }
    }

    /// Whether it was opened.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Returns once the gate is open, or at once if it is open already.
    public func opened() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append { continuation.resume() } }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Blocks this thread until it is open.
    ///
    /// - Returns: Whether it was opened within the bound.
    public func wait(within bound: Duration) -> Bool {
        let end = ContinuousClock.now + bound
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while !isOpen, ContinuousClock.now < end {
            _ = poll(&polled, 1, Int32(clamping: (end - ContinuousClock.now).components.seconds * 1000 + 1000))
        }
        return isOpen
    }

    /// Readable once the gate is open: a thread can wait for it and for a socket at the same time.
    var descriptor: Int32 { ends.readEnd }
}

/// A pipe: closing its write end wakes those who poll its read end.
final class DescriptorPair: Sendable {
    let readEnd: Int32
    private let writeEnd: Locked<Int32>

    init() {
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        ends.forEach(closeOnExec)
        readEnd = ends[0]
        writeEnd = Locked(ends[1])
    }

    deinit {
        closeWriteEnd()
        close(readEnd)
    }

    func closeWriteEnd() {
        let descriptor = writeEnd.withLock { end in
            defer { end = -1 }
            return end
        }
        guard descriptor >= 0 else { return }
        // Nobody reads this byte. Without it, the read end would not wake while a process that was started meanwhile
        // holds the write end, too.
        var byte: UInt8 = 0
        _ = write(descriptor, &byte, 1)
        close(descriptor)
    }
}

/// Keeps child processes from inheriting a descriptor: held open there, it would keep this process waiting.
func closeOnExec(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
