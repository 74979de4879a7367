import Testing
import WaybillCore

@testable import WaybillLegacy

/// The header field in both formats. Breaks when the halves of a fleet record one transaction as two.
@Suite(.timeLimit(.minutes(5))) struct HeaderFormatTests {
    private static let old = "TXN17-586AB00B-F16E-4AE6-8A91-0210264925C7"
    private let legacy = TransactionHeader.Format.legacy(name: "fp-apptxn-id")
    private let header: TransactionHeader

    init() throws {
        let transaction = try #require(GUID("586ab00b-f16e-4ae6-8a91-0210264925c7"))
        header = TransactionHeader(transaction: transaction, useCase: 17, source: .fixed(1), exchange: 3)
    }

    @Test func theStandardFormIsSentAndReadUnderItsNameAlone() {
        let format = TransactionHeader.Format.standard(name: "X-Transaction")
        #expect(format.fields(header) == ["X-Transaction": header.description])
        let (header, old) = (header.description, Self.old)
        #expect(format.read { $0 == "X-Transaction" ? header : nil }.header == self.header)
        let malformed = format.read { $0 == "X-Transaction" ? old : nil }
        #expect(malformed.header == nil && malformed.isThere)
        let elsewhere = format.read { $0 == TransactionHeader.fieldName ? header : nil }
        #expect(elsewhere.header == nil && !elsewhere.isThere)
    }

    @Test func theOldFormIsSentAsTheFirstFrameworkSentItAndTheStandardOneBesideIt() {
        #expect(legacy.fields(header) == ["fp-apptxn-id": Self.old, "Waybill-Transaction": header.description])
    }

    @Test(arguments: [old, "txn17-586ab00b-f16e-4ae6-8a91-0210264925c7"]) func theOldFormIsReadInAnyCase(value: String)
    {
        let read = legacy.read { $0 == "fp-apptxn-id" ? value : nil }
        #expect(
            read.header == TransactionHeader(transaction: header.transaction, useCase: 17),
            "it tells no source and no exchange")
    }

    @Test func whereBothComeInTheOneThatTellsMoreCounts() {
        let fields = [
            "fp-apptxn-id": "TXN4-00000000-0000-4000-8000-000000000000", "Waybill-Transaction": header.description,
        ]
        #expect(legacy.read { fields[$0] }.header == header)
        let damaged = ["fp-apptxn-id": Self.old, "Waybill-Transaction": "?"]
        #expect(legacy.read { damaged[$0] }.header?.transaction == header.transaction)
    }

    @Test(arguments: [
        "", "TXN17", "TXN-586AB00B-F16E-4AE6-8A91-0210264925C7", "586AB00B-F16E-4AE6-8A91-0210264925C7",
        "TXN-1-586AB00B-F16E-4AE6-8A91-0210264925C7", "TXN17-586AB00B-F16E-4AE6-8A91-0210264925C",
        "TXN17 586AB00B-F16E-4AE6-8A91-0210264925C7",
        "TXN9007199254740992-586AB00B-F16E-4AE6-8A91-0210264925C7",
        "TXN" + String(repeating: "0", count: 512) + "1-" + old.dropFirst(6),
    ])
    func whatIsNeitherFormIsMalformed(value: String) {
        let read = legacy.read { $0 == "fp-apptxn-id" ? value : nil }
        #expect(read.header == nil && read.isThere)
    }

    /// The same ID in a set and in a header field means the same transaction. Breaks when the records of old servers
    /// and old clients don't join.
    @Test func setsAndHeaderFieldsNameATransactionAlike() throws {
        let field = try #require(legacy.fields(header)["fp-apptxn-id"])
        let set = LegacySet(transactions: [LegacySet.Transaction(id: header.transaction, useCase: 17)])
        #expect(String(decoding: set.encoded(), as: UTF8.self).contains("\"apptxn/id\":\"\(field)\""))
    }
}
