/// The values that the formats are made of: in sets, and as details in a store's rows, always under the same names.
extension JSONWriter {
    /// Names in order, so that the same attributes always give the same bytes.
    package mutating func attributes(_ attributes: Attributes) {
        beginObject()
        if attributes.count < 2 {
            for (name, value) in attributes { attribute(name, value) }
        } else {
            for (name, value) in attributes.sorted(by: { $0.key < $1.key }) { attribute(name, value) }
        }
        endObject()
    }

    private mutating func attribute(_ name: String, _ value: AttributeValue) {
        key(name)
        switch value {
        case .string(let value): string(value)
        case .integer(let value): integer(value)
        case .double(let value): double(value)
        case .bool(let value): bool(value)
        }
    }

    /// `{"domain": "Shop.CheckoutError", "code": 3, "name": "rejected", "underlying": [...], "text": "..."}`, without an
    /// empty domain.
    package mutating func error(_ error: RecordedError) {
        beginObject()
        member("domain", error.domain)
        member("code", error.code)
        member("name", error.name)
        if !error.underlying.isEmpty {
            key("underlying")
            underlying(error.underlying)
        }
        member("text", error.text)
        endObject()
    }

    /// `[{"domain": "NSURLErrorDomain", "code": -1001}, ...]`, the nearest first.
    package mutating func underlying(_ errors: [RecordedError.Underlying]) {
        beginArray()
        for error in errors {
            beginObject()
            member("domain", error.domain)
            member("code", error.code)
            member("name", error.name)
            endObject()
        }
        endArray()
    }

    /// `[["Content-Type", "application/json"], ...]`
    package mutating func headerFields(_ fields: [Fact.HeaderField]) {
        beginArray()
        for field in fields {
            beginArray()
            string(field.name)
            string(field.value)
            endArray()
        }
        endArray()
    }

    /// `["user", "tenant"]`
    package mutating func texts(_ texts: [String]) {
        beginArray()
        for text in texts { string(text) }
        endArray()
    }

    // MARK: Members

    package mutating func member(_ name: StaticString, _ value: Int) { member(name, Int64(value)) }

    package mutating func member(_ name: StaticString, _ value: Int64) {
        key(name)
        integer(value)
    }

    package mutating func member(_ name: StaticString, word: StaticString) {
        key(name)
        self.word(word)
    }

    package mutating func member(_ name: StaticString, _ value: GUID) {
        key(name)
        guid(value)
    }

    /// Nothing for nil.
    package mutating func member(_ name: StaticString, _ value: Int?) { member(name, value.map { Int64($0) }) }

    /// Nothing for nil.
    package mutating func member(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        key(name)
        integer(value)
    }

    /// Nothing for nil.
    package mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        key(name)
        string(value)
    }

    /// Nothing for an empty string.
    package mutating func member(_ name: StaticString, _ value: String) {
        guard !value.isEmpty else { return }
        key(name)
        string(value)
    }

    /// Nothing for false.
    package mutating func member(_ name: StaticString, _ value: Bool) {
        guard value else { return }
        key(name)
        bool(value)
    }

    /// Nothing where there are none.
    package mutating func member(_ name: StaticString, _ value: Attributes) {
        guard !value.isEmpty else { return }
        key(name)
        attributes(value)
    }

    /// Nothing for nil.
    package mutating func member(_ name: StaticString, _ value: RecordedError?) {
        guard let value else { return }
        key(name)
        error(value)
    }

    /// Nothing where there are none.
    package mutating func member(_ name: StaticString, _ value: [Fact.HeaderField]) {
        guard !value.isEmpty else { return }
        key(name)
        headerFields(value)
    }

    /// Nothing where there are none.
    package mutating func member(_ name: StaticString, _ value: [String]) {
        guard !value.isEmpty else { return }
        key(name)
        texts(value)
    }
}
