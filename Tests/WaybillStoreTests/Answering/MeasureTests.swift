import Foundation
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// The percentiles of numbers that an app recorded. Breaks when a version that sends twice as much goes unnoticed.
@Suite(.timeLimit(.minutes(5))) struct MeasureTests {
    private let store: Store
    private let reader: StoreReader

    init() throws {
        let place: ResolvedLocation
        (store, place) = try Store.inMemory()
        reader = try StoreReader(place)
    }

    private func record(_ version: String, _ values: [AttributeValue?]) throws {
        let writer = FactWriter("shop", version: version)
        writer.names = [RecordedName(useCase: 0, name: "upload")]
        for value in values {
            let part = writer.open(GUID(), attributes: value.map { ["bytes": $0] } ?? [:])
            writer.close(part, .succeeded)
        }
        try store.ingest(writer.set())
    }

    private func ask(_ attribute: String = "bytes", by segmentation: Segmentation? = nil) throws -> MeasureAnswer {
        let filter = TransactionFilter([.useCase(0)])
        return try reader.answer(
            MeasureQuestion(filter: filter, attribute: attribute, segmentation: segmentation), now: FactWriter.wall)
    }

    @Test func percentilesAreExactAndByVersion() throws {
        try record("1", (1...100).map { .integer($0) } + [nil, .string("many"), .bool(true), .double(.infinity)])
        try record("2", [.double(0.5), .integer(-3)])
        let answer = try ask(by: .appVersion)
        #expect(answer.segments.map(\.value) == ["1", "2"])
        let first = answer.segments[0]
        #expect(first.statistics.count == 100 && first.without == 4)
        #expect(first.statistics.minimum == 1 && first.statistics.p50 == 50 && first.statistics.p75 == 75)
        #expect(first.statistics.p90 == 90 && first.statistics.p99 == 99 && first.statistics.maximum == 100)
        #expect(abs((first.statistics.mean ?? 0) - 50.5) < 1e-9)
        #expect(answer.segments[1].statistics.p50 == -3 && answer.segments[1].statistics.p90 == 0.5)
        #expect(answer.total.statistics.count == 102 && answer.total.without == 4)
        let json = try JSONEncoder.waybill().encode(AnyAnswer.measure(MeasureQuestion(attribute: "bytes"), answer))
        #expect(
            try AnyQuestion.measure(MeasureQuestion(attribute: "bytes")).answer(json: json)
                == .measure(MeasureQuestion(attribute: "bytes"), answer))
    }

    /// The last value counts, whether it was set on the running transaction or with its events.
    @Test func theValueThatWasSaidLastCounts() throws {
        let writer = FactWriter()
        writer.names = [RecordedName(useCase: 0, name: "upload"), RecordedName(useCase: 0, event: 1, name: "sent")]
        let part = writer.open(GUID(), attributes: ["bytes": 1])
        writer.event(1, part: part, attributes: ["bytes": 7])
        try store.ingest(writer.set())
        #expect(try ask().total.statistics.maximum == 7)
    }

    @Test func withoutAnyNumberItSaysWhy() throws {
        try record("1", [.string("many"), nil])
        let answer = try ask()
        #expect(answer.total.statistics == NumberStatistics([]) && answer.total.without == 2)
        let why = try #require(answer.whyEmpty)
        #expect(why.contains("has a number as its attribute “bytes”"))
    }

    @Test func weightsCount() {
        let statistics = NumberStatistics([(1, 1_000_000), (5, 9_000_000), (.greatestFiniteMagnitude, 0)])
        #expect(statistics.count == 10 && statistics.p50 == 5 && statistics.minimum == 1 && statistics.maximum == 5)
        #expect(abs((statistics.mean ?? 0) - 4.6) < 1e-9)
        let great = NumberStatistics(
            Array(repeating: (value: Double.greatestFiniteMagnitude, weight: Int64(1_000_000)), count: 4))
        #expect(great.mean?.isFinite == true)
    }
}
