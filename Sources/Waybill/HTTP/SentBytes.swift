import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The bytes of a request's body once more, in the order in which they are sent: for the record, where it keeps bodies.
final class SentBytes: Sendable {
    private enum Origin {
        case data(Data)
        case file(FileHandle)
        case stream(StreamCopy)
    }

    private let origin: Locked<Origin>

    /// Prepares to see the body of a request, whose stream is replaced by one that is seen through; nil where there is
    /// none to be seen.
    ///
    /// - Parameter isWanted: Whether files and streams are worth the trouble.
    init?(of outgoing: inout OutgoingRequest, isWanted: Bool) {
        if let data = outgoing.data {
            origin = Locked(.data(data))
        } else if isWanted, case .file(let url) = outgoing.body, let file = try? FileHandle(forReadingFrom: url) {
            origin = Locked(.file(file))
        } else if isWanted, case .own = outgoing.body, let copy = StreamCopy(of: &outgoing.request) {
            origin = Locked(.stream(copy))
        } else {
            return nil
        }
    }

    /// The next bytes; nil where they are not to be had, as when a redirect asks for the body again.
    func next(_ count: Int) -> Data? {
        origin.withLock { origin in
            switch origin {
            case .data(let data):
                guard data.count >= count else { return nil }
                origin = .data(data.dropFirst(count))
                return data.prefix(count)
            case .file(let file): return (try? file.read(upToCount: count)).flatMap { $0.count == count ? $0 : nil }
            case .stream(let copy): return copy.next(count)
            }
        }
    }
}

#if canImport(FoundationNetworking)
/// A stream that passes on another, and remembers what was read until it was asked for: a buffer's worth, since
/// URLSession tells of every read, on the queue where it reads.
final class StreamCopy: InputStream {
    private let inner: InputStream
    private var seen = Data()

    /// Takes the place of a request's stream; nil where it has none.
    init?(of request: inout URLRequest) {
        guard let stream = request.httpBodyStream else { return nil }
        inner = stream
        super.init(data: Data())
        request.httpBodyStream = self
    }

    func next(_ count: Int) -> Data? {
        guard seen.count >= count else { return nil }
        defer { seen.removeFirst(count) }
        return seen.prefix(count)
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        let count = inner.read(buffer, maxLength: length)
        if count > 0 { seen.append(buffer, count: count) }
        return count
    }

    override var hasBytesAvailable: Bool { inner.hasBytesAvailable }
    override var streamStatus: Stream.Status { inner.streamStatus }
    override var streamError: (any Error)? { inner.streamError }
    override func open() { inner.open() }
    override func close() { inner.close() }
}
#else
/// Streams cannot be seen through on Apple platforms: CFNetwork asks of them what a subclass in Swift cannot give.
/// Their length is recorded.
final class StreamCopy {
    init?(of request: inout URLRequest) { return nil }

    func next(_ count: Int) -> Data? { nil }
}
#endif
