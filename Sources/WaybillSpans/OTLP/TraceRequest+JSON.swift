import Foundation
package import WaybillCore

/// OTLP's own rules for JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): names in camelCase, IDs
/// in hexadecimal, enums as numbers, integers of 64 bits as strings or numbers.
extension TraceRequest {
    /// Reads a request in JSON; members that are not known are passed over.
    ///
    /// Takes more than the rules allow where the meaning is clear: enums by name, elements that are null, and halves of
    /// surrogate pairs. A span that cannot be read is refused by itself, since an exporter does not send a request again.
    ///
    /// - Parameter limit: Spans and events of spans; of those beyond only the number is told.
    package static func decode(json bytes: [UInt8], limit: Int) throws(SetDecodingFailure) -> TraceRequest {
        try SetDecodingFailure.decoding(bytes) { reader throws(JSONFailure) in
            var request = TraceRequest()
            reader.replacesLoneSurrogates = true
            try reader.members { key, reader throws(JSONFailure) in
                guard key == "resourceSpans" else { return try reader.skipValue() }
                try reader.elements { reader throws(JSONFailure) in try request.readResourceSpans(&reader, limit) }
            }
            return request
        }
    }

    private mutating func readResourceSpans(_ reader: inout JSONReader, _ limit: Int) throws(JSONFailure) {
        var resource = ReceivedResource()
        var request = self
        try reader.members { key, reader throws(JSONFailure) in
            switch key {
            case "resource":
                try reader.members { key, reader throws(JSONFailure) in
                    if key == "attributes" {
                        var attributes = SpanAttributes()
                        try reader.read(&attributes)
                        resource.attributes = attributes.flat
                    } else {
                        try reader.skipValue()
                    }
                }
            case "scopeSpans":
                try reader.elements { reader throws(JSONFailure) in
                    var scope = SpanFields.Scope()
                    let first = resource.spans.count
                    try reader.members { key, reader throws(JSONFailure) in
                        switch key {
                        case "scope": scope = try SpanFields.Scope(&reader)
                        case "spans":
                            try reader.elements { reader throws(JSONFailure) in
                                try request.addSpan(&reader, to: &resource, limit: limit)
                            }
                        default: try reader.skipValue()
                        }
                    }
                    resource.setScope(scope, ofSpansFrom: first)
                }
            default: try reader.skipValue()
            }
        }
        request.resources.append(resource)
        self = request
    }

    private mutating func addSpan(
        _ reader: inout JSONReader, to resource: inout ReceivedResource, limit: Int
    ) throws(JSONFailure) {
        var ahead = reader
        do throws(JSONFailure) {
            add(try SpanFields(&ahead), to: &resource, limit: limit)
            reader = ahead
        } catch {
            guard error.kind == .invalid else { throw error }
            try reader.skipValue()
            add(SpanFault(reason: "it cannot be read: \(error.message)"))
        }
    }
}

extension SpanFields {
    fileprivate init(_ reader: inout JSONReader) throws(JSONFailure) {
        var fields = SpanFields()
        try reader.members { key, reader throws(JSONFailure) in
            switch key {
            case "traceId": fields.trace = try reader.hexadecimal()
            case "spanId": fields.id = try reader.hexadecimal()
            case "parentSpanId": fields.parent = try reader.hexadecimal()
            case "traceState": fields.traceState = try reader.text().string
            case "name": fields.name = try reader.text().string
            case "kind": fields.kind = try reader.enumeration(SpanFields.kinds)
            case "flags": fields.flags = try reader.count32()
            case "startTimeUnixNano": fields.startNanoseconds = try reader.nanoseconds()
            case "endTimeUnixNano": fields.endNanoseconds = try reader.nanoseconds()
            case "attributes": try reader.read(&fields.attributes)
            case "droppedAttributesCount": fields.attributes.droppedCount += try reader.count32()
            case "events": try reader.elements { reader throws(JSONFailure) in fields.add(try Event(&reader)) }
            case "droppedEventsCount": fields.droppedEventCount += try reader.count32()
            case "links": try reader.elements { reader throws(JSONFailure) in fields.add(try Link(&reader)) }
            case "droppedLinksCount": fields.droppedLinkCount += try reader.count32()
            case "status":
                try reader.members { key, reader throws(JSONFailure) in
                    switch key {
                    case "code": fields.statusCode = try reader.enumeration(SpanFields.statusCodes)
                    case "message": fields.statusMessage = try reader.text().string
                    default: try reader.skipValue()
                    }
                }
            default: try reader.skipValue()
            }
        }
        self = fields
    }

    /// The names of trace.proto, in the order of their numbers.
    private static let kinds = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"].map {
        "SPAN_KIND_\($0)"
    }
    private static let statusCodes = ["UNSET", "OK", "ERROR"].map { "STATUS_CODE_\($0)" }
}

extension SpanFields.Event {
    fileprivate init(_ reader: inout JSONReader) throws(JSONFailure) {
        var event = Self()
        try reader.members { key, reader throws(JSONFailure) in
            switch key {
            case "timeUnixNano": event.nanoseconds = try reader.nanoseconds()
            case "name": event.name = try reader.text().string
            case "attributes": try reader.read(&event.attributes)
            case "droppedAttributesCount": event.attributes.droppedCount += try reader.count32()
            default: try reader.skipValue()
            }
        }
        self = event
    }
}

extension SpanFields.Link {
    fileprivate init(_ reader: inout JSONReader) throws(JSONFailure) {
        var link = Self()
        try reader.members { key, reader throws(JSONFailure) in
            switch key {
            case "traceId": link.trace = try reader.hexadecimal()
            case "spanId": link.span = try reader.hexadecimal()
            case "traceState": link.traceState = try reader.text().string
            case "flags": link.flags = try reader.count32()
            case "attributes": try reader.read(&link.attributes)
            case "droppedAttributesCount": link.attributes.droppedCount += try reader.count32()
            default: try reader.skipValue()
            }
        }
        self = link
    }
}

extension SpanFields.Scope {
    fileprivate init(_ reader: inout JSONReader) throws(JSONFailure) {
        var scope = Self()
        try reader.members { key, reader throws(JSONFailure) in
            switch key {
            case "name": scope.name = try reader.text().string
            case "version": scope.version = try reader.text().string
            case "attributes": try reader.read(&scope.attributes)
            case "droppedAttributesCount": scope.attributes.droppedCount += try reader.count32()
            default: try reader.skipValue()
            }
        }
        self = scope
    }
}
