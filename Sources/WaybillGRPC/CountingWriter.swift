#if GRPC
import GRPCCore

/// Tells how many messages were handed over.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct CountingWriter<Element: Sendable>: RPCWriterProtocol {
    private let writer: RPCWriter<Element>
    private let wrote: @Sendable (_ count: Int) -> Void

    init(_ writer: RPCWriter<Element>, wrote: @escaping @Sendable (_ count: Int) -> Void) {
        (self.writer, self.wrote) = (writer, wrote)
    }

    func write(_ element: Element) async throws {
        try await writer.write(element)
        wrote(1)
    }

    func write(contentsOf elements: some Sequence<Element>) async throws {
        let elements = Array(elements)
        try await writer.write(contentsOf: elements)
        wrote(elements.count)
    }
}
#endif
