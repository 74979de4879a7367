extension JSONReader {
    mutating func identityProof() throws(JSONFailure) -> IdentityProof {
        let text = try text()
        guard let proof = IdentityProof(text.string) else {
            let lengths = IdentityProof.lengths
            throw invalid(text, "a proof of \(lengths.lowerBound) to \(lengths.upperBound) characters was expected")
        }
        return proof
    }

    /// Reads anchors in chronological order, at least one. `room` is the number that the set may still contain.
    mutating func clocks(_ room: inout Int) throws(JSONFailure) -> [ClockAnchor] {
        skipWhitespace()
        let start = offset
        var last: Int64?
        let clocks = try array(of: "clock anchors", &room) { (reader, start) throws(JSONFailure) -> ClockAnchor in
            var at: Int64?
            var distance: Int64?
            while let key = try reader.nextKey() {
                switch key {
                case "at_us": at = try reader.count()
                case "offset_us": distance = try reader.integer(in: -Limits.largestInteger...Limits.largestInteger)
                default: try reader.skipValue()
                }
            }
            let clock = ClockAnchor(
                atMicroseconds: try reader.required(at, "at_us", at: start),
                offsetMicroseconds: try reader.required(distance, "offset_us", at: start))
            if let last, last >= clock.atMicroseconds {
                throw JSONFailure(.invalid, at: start, "a clock anchor later than the one before was expected")
            }
            last = clock.atMicroseconds
            return clock
        }
        guard !clocks.isEmpty else { throw JSONFailure(.invalid, at: start, "at least one clock anchor was expected") }
        return clocks
    }

    mutating func names(_ room: inout Int) throws(JSONFailure) -> [RecordedName] {
        try array(of: "names", &room) { (reader, start) throws(JSONFailure) -> RecordedName in
            var useCase: Int?
            var event: Int?
            var name: String?
            while let key = try reader.nextKey() {
                switch key {
                case "use_case": useCase = try reader.count()
                case "event": event = try reader.count()
                case "name": name = try reader.string(limit: Limits.labelLength)
                default: try reader.skipValue()
                }
            }
            return RecordedName(
                useCase: try reader.required(useCase, "use_case", at: start), event: event,
                name: try reader.required(name, "name", at: start))
        }
    }

    mutating func ledger() throws(JSONFailure) -> Ledger {
        var recorded: Int64?
        var delivered: Int64?
        var quarantined: Int64?
        var dropped: [String: Int64] = [:]
        var pending: Int64?
        var refused: Int64?
        let start = try beginObject()
        while let key = try nextKey() {
            switch key {
            case "recorded": recorded = try count()
            case "delivered": delivered = try count()
            case "quarantined": quarantined = try count()
            case "dropped": dropped = try droppedCounts()
            case "pending": pending = try count()
            case "refused": refused = try count()
            default: try skipValue()
            }
        }
        return Ledger(
            recorded: try required(recorded, "recorded", at: start),
            delivered: try required(delivered, "delivered", at: start),
            quarantined: try required(quarantined, "quarantined", at: start), dropped: dropped,
            pending: try required(pending, "pending", at: start), refused: try required(refused, "refused", at: start))
    }

    private mutating func droppedCounts() throws(JSONFailure) -> [String: Int64] {
        var counts: [String: Int64] = [:]
        let start = try beginObject()
        while let key = try nextKey() {
            let reason = key.string
            guard !reason.isLonger(than: Limits.nameLength) else {
                throw invalid(key, "longer than \(Limits.nameLength) characters")
            }
            counts[reason] = try count()
            // Bounded, because the sum of the counts must not overflow.
            guard counts.count <= Limits.attributes else {
                throw JSONFailure(.invalid, at: start, "more than \(Limits.attributes) reasons")
            }
        }
        return counts
    }

    mutating func droppedRanges(_ room: inout Int) throws(JSONFailure) -> [DroppedRange] {
        try array(of: "ranges of dropped facts", &room) { (reader, start) throws(JSONFailure) -> DroppedRange in
            var first: Int64?
            var last: Int64?
            var reason: Ledger.DropReason?
            while let key = try reader.nextKey() {
                switch key {
                case "first": first = try reader.integer(in: 1...Limits.largestInteger)
                case "last": last = try reader.integer(in: 1...Limits.largestInteger)
                case "reason":
                    let word = try reader.text()
                    reason = Ledger.DropReason(rawValue: word.string)
                    if reason == nil {
                        let words = Ledger.DropReason.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
                        throw reader.invalid(word, "one of \(words) was expected")
                    }
                default: try reader.skipValue()
                }
            }
            let range = DroppedRange(
                first: try reader.required(first, "first", at: start),
                last: try reader.required(last, "last", at: start),
                reason: try reader.required(reason, "reason", at: start))
            guard range.first <= range.last else { throw JSONFailure(.invalid, at: start, "`last` is below `first`") }
            return range
        }
    }

    private static func tooMany(_ what: String, at start: Int) -> JSONFailure {
        JSONFailure(
            .invalid, at: start, "more than \(Limits.envelopeItems) \(what) in one set; send them in several sets")
    }

    /// Reads an array of objects, bounded because a hostile body can make many of few bytes.
    mutating func array<Element>(
        of what: String, _ room: inout Int, _ body: (inout JSONReader, Int) throws(JSONFailure) -> Element
    ) throws(JSONFailure) -> [Element] {
        skipWhitespace()
        let start = offset
        var left = room
        let elements = try array { (reader, element) throws(JSONFailure) -> Element in
            guard left > 0 else { throw Self.tooMany(what, at: start) }
            left -= 1
            return try body(&reader, element)
        }
        room = left
        return elements
    }

    mutating func array<Element>(
        _ body: (inout JSONReader, Int) throws(JSONFailure) -> Element
    ) throws(JSONFailure) -> [Element] {
        var elements: [Element] = []
        try beginArray()
        while try nextElement() {
            let start = try beginObject()
            elements.append(try body(&self, start))
        }
        return elements
    }
}
