package import WaybillCore

/// The details of a fact that have no column, as JSON in a text column; the members are named as in a set.
package struct DetailColumn {
    package var attributes: Attributes = [:]
    package var removed: [String] = []
    package var errorDomain = ""
    /// Events have no column for it, because most have no error.
    package var errorCode: Int64?
    package var errorName: String?
    package var errorUnderlying: [RecordedError.Underlying] = []
    package var errorText: String?
    package var scheme: String?
    package var port: Int?
    package var query: String?
    package var headerFields: [HeaderField] = []
    package var transfer = Fact.Transfer()

    package var text: String? {
        guard
            !attributes.isEmpty || !removed.isEmpty || !errorDomain.isEmpty || errorCode != nil || errorName != nil
                || !errorUnderlying.isEmpty || errorText != nil || scheme != nil || port != nil
                || query != nil
                || !headerFields.isEmpty || !transfer.isEmpty
        else { return nil }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("attributes", attributes)
        writer.member("removed", removed)
        writer.member("error_domain", errorDomain)
        writer.member("error_code", errorCode)
        writer.member("error_name", errorName)
        writer.member("error_underlying", errorUnderlying)
        writer.member("error_text", errorText)
        writer.member("scheme", scheme)
        writer.member("port", port)
        writer.member("query", query)
        writer.member("headers", headerFields)
        writer.members(transfer)
        writer.endObject()
        return writer.text
    }

    /// Closings have a column for the code.
    package func error(code: Int64?) -> RecordedError? {
        code.map {
            RecordedError(
                domain: errorDomain, code: $0, name: errorName, underlying: errorUnderlying, text: errorText)
        }
    }
}

extension DetailColumn {
    package init(attributes: Attributes, error: RecordedError? = nil) {
        self.attributes = attributes
        errorDomain = error?.domain ?? ""
        errorName = error?.name
        errorUnderlying = error?.underlying ?? []
        errorText = error?.text
    }

    /// Omits unreadable members of a damaged store.
    package init(_ text: String?) {
        guard var text else { return }
        var detail = DetailColumn()
        text.withUTF8 { bytes in
            do throws(JSONFailure) {
                try JSONReader.read(bytes) { reader throws(JSONFailure) in try detail.read(&reader) }
            } catch {}  // keeps the members that were read before the error
        }
        self = detail
    }

    private mutating func read(_ reader: inout JSONReader) throws(JSONFailure) {
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "attributes": attributes = try reader.attributes()
            case "removed": removed = try reader.attributeNames()
            case "error_domain": errorDomain = try reader.string(limit: Limits.labelLength)
            case "error_code": errorCode = try reader.integer(in: -Limits.largestInteger...Limits.largestInteger)
            case "error_name": errorName = try reader.string(limit: Limits.labelLength)
            case "error_underlying": errorUnderlying = try reader.underlying()
            case "error_text": errorText = try reader.string(limit: Limits.textLength)
            case "scheme": scheme = try reader.string(limit: Limits.labelLength)
            case "port": port = try reader.integer(in: 0...65_535)
            case "query": query = try reader.string(limit: Limits.fieldLength)
            case "headers": headerFields = try reader.headerFields()
            default: if try !transfer.read(key, &reader) { try reader.skipValue() }
            }
        }
    }
}

extension Attributes {
    package var columnText: String? {
        guard !isEmpty else { return nil }
        var writer = JSONWriter()
        writer.attributes(self)
        return writer.text
    }

    package init(columnText: String?) {
        self = [:]
        guard var columnText else { return }
        self = columnText.withUTF8 { bytes in
            do throws(JSONFailure) {
                return try JSONReader.read(bytes) { reader throws(JSONFailure) in try reader.attributes() }
            } catch {
                return [:]
            }
        }
    }
}
