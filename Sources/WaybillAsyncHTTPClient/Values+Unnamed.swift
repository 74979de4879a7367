#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore

// What async-http-client 1.37 knows and has no public name for is read off its values. Where a version has it elsewhere,
// nothing is found, and what is done then is safe: no header field, no redirect with a body, a body that is not counted.

extension HTTPClient {
    /// Whether a 3xx is handed out as it came.
    var leavesRedirects: Bool {
        Mirror(reflecting: self).descendant("configuration", "redirectConfiguration", "mode").map { "\($0)" }
            == "disallow"
    }
}

extension HTTPClientRequest.Body {
    enum StatedLength { case bytes(Int64), unknown }

    /// How it is given; nil where that cannot be seen, or is none that can be read from outside: its unstable interface
    /// has bodies that write themselves, which trap when they are iterated.
    private var mode: Mirror.Child? {
        let mode = Mirror(reflecting: self).descendant("mode").flatMap { Mirror(reflecting: $0).children.first }
        return ["byteBuffer", "sequence", "asyncSequence"].contains(mode?.label) ? mode : nil
    }

    /// How long it says that it is; nil where that cannot be seen.
    var statedLength: StatedLength? {
        guard let mode else { return nil }
        if let bytes = mode.value as? ByteBuffer { return .bytes(Int64(bytes.readableBytes)) }
        guard let length = Mirror(reflecting: mode.value).descendant("length") else { return nil }
        if let count = Mirror(reflecting: length).descendant("known") as? Int64 { return .bytes(count) }
        return "\(length)" == "unknown" ? .unknown : nil
    }

    /// Whether it gives the same bytes a second time.
    var canBeSentAgain: Bool {
        guard let mode else { return false }
        return mode.value is ByteBuffer
            || Mirror(reflecting: mode.value).descendant("canBeConsumedMultipleTimes") as? Bool == true
    }
}
#endif
