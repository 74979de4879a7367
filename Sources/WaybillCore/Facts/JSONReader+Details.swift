extension JSONReader {
    /// The last value of a repeated name wins.
    package mutating func attributes() throws(JSONFailure) -> Attributes {
        var attributes: Attributes = [:]
        let start = try beginObject()
        while let key = try nextKey() {
            let name = key.string
            guard !name.isLonger(than: Limits.nameLength) else {
                throw invalid(key, "an attribute's name is longer than \(Limits.nameLength) characters")
            }
            attributes[name] = try attributeValue()
            guard attributes.count <= Limits.attributes else {
                throw JSONFailure(.invalid, at: start, "more than \(Limits.attributes) attributes")
            }
        }
        return attributes
    }

    package mutating func attributeNames() throws(JSONFailure) -> [String] {
        var names: Set<String> = []
        let start = try beginArray()
        while try nextElement() {
            names.insert(try string(limit: Limits.nameLength))
            guard names.count <= Limits.attributes else {
                throw JSONFailure(.invalid, at: start, "more than \(Limits.attributes) names of attributes")
            }
        }
        return names.sorted()
    }

    package mutating func error() throws(JSONFailure) -> RecordedError { try error(isUnderlying: false) }

    @inline(never)
    private mutating func error(isUnderlying: Bool) throws(JSONFailure) -> RecordedError {
        var code: Int64?
        var error = RecordedError(code: 0)
        let start = try beginObject()
        while let key = try nextKey() {
            switch key {
            case "domain": error.domain = try string(limit: Limits.labelLength)
            case "code": code = try integer(in: -Limits.largestInteger...Limits.largestInteger)
            case "name": error.name = try string(limit: Limits.labelLength, atLeast: 1)
            case "underlying" where !isUnderlying: error.underlying = try underlying()
            case "text" where !isUnderlying: error.text = try string(limit: Limits.textLength)
            default: try skipValue()
            }
        }
        error.code = try required(code, "code", at: start)
        return error
    }

    package mutating func underlying() throws(JSONFailure) -> [RecordedError.Underlying] {
        try list(of: "underlying errors", limit: Limits.underlyingErrors) { reader throws(JSONFailure) in
            let error = try reader.error(isUnderlying: true)
            return RecordedError.Underlying(domain: error.domain, code: error.code, name: error.name)
        }
    }

    package mutating func headerFields() throws(JSONFailure) -> [HeaderField] {
        try list(of: "header fields", limit: Limits.headerFields) { reader throws(JSONFailure) in
            try reader.headerField()
        }
    }

    private mutating func headerField() throws(JSONFailure) -> HeaderField {
        var parts: [String] = []
        let start = try beginArray()
        while try nextElement() {
            guard parts.count < 2 else {
                throw JSONFailure(.invalid, at: start, "a pair of name and value was expected")
            }
            parts.append(
                try string(
                    limit: parts.isEmpty ? Limits.nameLength : Limits.fieldLength, atLeast: parts.isEmpty ? 1 : 0))
        }
        guard parts.count == 2 else { throw JSONFailure(.invalid, at: start, "a pair of name and value was expected") }
        return HeaderField(name: parts[0], value: parts[1])
    }

    mutating func list<Element>(
        of name: StaticString, limit: Int, _ read: (inout JSONReader) throws(JSONFailure) -> Element
    ) throws(JSONFailure) -> [Element] {
        let start = try beginArray()
        var elements: [Element] = []
        while try nextElement() {
            guard elements.count < limit else { throw JSONFailure(.invalid, at: start, "more than \(limit) \(name)") }
            elements.append(try read(&self))
        }
        return elements
    }

    package func required<Value>(_ value: Value?, _ name: StaticString, at start: Int) throws(JSONFailure) -> Value {
        guard let value else { throw JSONFailure(.invalid, at: start, "`\(name)` is missing") }
        return value
    }
}
