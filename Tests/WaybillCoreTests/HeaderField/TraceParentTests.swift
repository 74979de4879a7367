import Testing
import WaybillCore

/// W3C Trace Context as others write it. The parser is strict, because anybody may send it.
@Suite(.timeLimit(.minutes(5))) struct TraceParentTests {
    private let trace = "0af7651916cd43dd8448eb211c80319c"

    @Test func aFieldIsReadAndWritten() throws {
        let text = "00-\(trace)-b7ad6b7169203331-01"
        let parent = try #require(TraceParent(parsing: text))
        #expect(parent.trace.traceID == trace)
        #expect(parent.parent.description == "b7ad6b7169203331")
        #expect(parent.flags == 1)
        #expect(parent.description == text)
    }

    @Test(arguments: [
        "", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-extra",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1g",
        "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
        "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.what",
        " 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01,00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ]) func whatIsNotValidIsNone(_ text: String) { #expect(TraceParent(parsing: text) == nil) }

    @Test func ofALaterVersionThatCountsWhichIsKnown() throws {
        for rest in ["", "-what-comes-later"] {
            let parent = try #require(TraceParent(parsing: "cc-\(trace)-b7ad6b7169203331-ff\(rest)"))
            #expect(parent.trace.traceID == trace && parent.flags == 1)
        }
        #expect(TraceParent(parsing: "cc-\(trace)-b7ad6b7169203331-01-" + String(repeating: "x", count: 10_000)) == nil)
    }

    @Test func aTransactionSaysThatItsLastBytesAreRandomAndAnotherIDDoesNot() throws {
        let span = SpanID(FactID(source: GUID(), sequence: 1))
        #expect(TraceParent(of: GUID(), parent: span)?.flags == 3)
        let old = try #require(GUID("f47ac10b-58cc-4372-a567-0e02b2c3d479"))
        #expect(TraceParent(of: old, parent: span)?.flags == 1)
        let none = try #require(GUID("00000000-0000-0000-0000-000000000000"))
        #expect(TraceParent(of: none, parent: span) == nil)
    }

    @Test(arguments: [
        ("waybill=u:17", 17), ("other=1, waybill=u:0 ,more=2", 0), ("other=waybill=u:3", nil), ("", nil),
        ("waybill=u:", nil), ("waybill=u:-1", nil), ("waybill=u:1234567890123456", nil), ("waybill=17", nil),
    ]) func theStateNamesTheUseCase(_ text: String, _ useCase: Int?) {
        #expect(TraceState.useCase(in: text) == useCase)
    }
}
