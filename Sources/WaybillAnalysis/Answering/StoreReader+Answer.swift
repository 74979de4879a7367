package import WaybillCore
package import WaybillStore

/// Questions about many transactions.
extension StoreReader {
    /// Answers a question by one state of the store.
    ///
    /// - Parameter wall: Now, in microseconds since 1970: decides what has timed out.
    /// - Throws: `.notFound` for an event, an attribute or a value that nothing here has, with the nearest name that something has; `.setting` for
    ///   a question that makes no sense, or needs a use case and names none.
    package func answer(_ query: Query, now wall: Int) throws(WaybillError) -> Answer {
        // The others are read by one thread, and need no second connection.
        guard case .transitions = query else { return try read { () throws(WaybillError) in try explained(query, now: wall, nil) } }
        return try readByTwo { (second) throws(WaybillError) in try explained(query, now: wall, second) }
    }

    private func explained(_ query: Query, now wall: Int, _ second: Connection?) throws(WaybillError) -> Answer {
        var answer = try unexplained(query, now: wall, second)
        try explain(&answer, to: query, now: wall)
        return answer
    }

    private func unexplained(_ query: Query, now wall: Int, _ second: Connection?) throws(WaybillError) -> Answer {
        switch query {
        case .summary(let query): .summary(try SummaryReading(connection).answer(query, now: wall))
        case .duration(let query): .duration(try DurationReading(connection).answer(query, now: wall))
        case .transitions(let query): .transitions(try TransitionsReading(connection, second).answer(query, now: wall))
        case .funnel(let query): .funnel(try FunnelReading(connection).answer(query, now: wall))
        case .dropOff(let query): .dropOff(try DropOffReading(connection).answer(query, now: wall))
        case .legs(let query): .legs(try LegsReading(connection).answer(query, now: wall))
        case .network(let query): .network(try NetworkReading(connection).answer(query, now: wall))
        case .compare(let query): .compare(try CompareReading(connection).answer(query, now: wall))
        }
    }
}
