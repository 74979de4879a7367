import TestSupport
import Testing
import WaybillCore

/// Every kind of secret, and every harmless value, in every place.
@Suite(.timeLimit(.minutes(5))) struct RedactionCorpusTests {
    /// Breaks when a secret of a known name, shape or form is recorded in some place.
    @Test func noSecretIsKeptAnywhere() {
        let leaks = RedactionCorpus.attempts(Redactor()).filter(\.isLeak).map(\.sentence)
        #expect(leaks.isEmpty, "\(leaks.count) leak: \(leaks.prefix(20).joined(separator: "\n"))")
    }

    /// Breaks when people look for their recorded data and find placeholders.
    @Test func whatIsHarmlessStaysAsItIs() {
        let hidden = RedactionCorpus.harmlessAttempts(Redactor()).filter { !$0.isLeak }.map(\.sentence)
        #expect(hidden.isEmpty, "\(hidden.count) are hidden: \(hidden.prefix(20).joined(separator: "\n"))")
    }

    /// Breaks when dates, barcodes and order numbers are hidden by chance: one in ten passes a card's check digit.
    @Test(arguments: RedactionCorpus.harmlessKinds.indices) func harmlessNumbersAreSeldomTakenForSecrets(index: Int) {
        let kind = RedactionCorpus.harmlessKinds[index]
        var random = CorpusLetters(seed: 11)
        let values = (0..<2_000).map { _ in kind.make(&random) }
        let redactor = Redactor()
        let hidden = values.filter { redactor.text($0) != $0 }
        #expect(hidden.count <= 2 * kind.limit, "\(kind.name): \(hidden.count) of 2,000, as \(hidden.prefix(5))")
    }

    /// At most one in 275 of all harmless values may be hidden. Each single test allows fewer.
    @Test func ofAllThatIsHarmlessOneIn275IsHiddenAtMost() {
        let attempts = RedactionCorpus.harmlessAttempts(Redactor())
        let hidden = attempts.filter { !$0.isLeak }.map(\.sentence)
        #expect(attempts.count > 2_000)
        #expect(hidden.count * 275 <= attempts.count, "\(hidden.prefix(20).joined(separator: "\n"))")
    }

    /// Breaks when cards of an issuer are recorded. Each number is the issuer's own test number.
    @Test(arguments: [
        "4012888888881881", "4222222222222", "5105105105105100", "2223003122003222", "378282246310005",
        "371449635398431", "6011111111111117", "6011000990139424", "3530111333300000", "30569309025904",
        "38520000023237", "36227206271667", "6200000000000005", "6759649826438453", "5018000000000009",
    ]) func aCardOfEveryIssuerIsHidden(number: String) {
        #expect(Redactor().text("card \(number) ok") == "card [redacted] ok")
    }

    /// Breaks when an error's number under `code` is hidden, or a code that people type once is recorded.
    @Test(arguments: [(404, false), (10_061, false), (-1009, false), (4_021_000_117, false), (123_456, true)])
    func aNumberUnderCodeIsHiddenWhereItIsAsLongAsOnesThatPeopleType(number: Int, isHidden: Bool) {
        let kept = Redactor().attributes(["code": .integer(Int64(number))]).0["code"]
        #expect(kept == (isHidden ? "[redacted]" : .integer(Int64(number))))
    }

    /// The control: without redaction every secret appears, except in a fragment, which is never recorded.
    @Test func withoutRedactionEverySecretShows() {
        let attempts = RedactionCorpus.attempts(.off)
        #expect(attempts.count > 3_000)
        let missing = attempts.filter { !$0.isLeak && $0.place != "fragment" }.map(\.sentence)
        #expect(missing.count < 3, "User-info is dropped with a URL. \(missing)")
    }

    /// Breaks when an export of recorded data differs from it.
    @Test func redactingAgainChangesNothing() {
        let redactor = Redactor()
        for attempt in RedactionCorpus.attempts(redactor) where attempt.place.hasPrefix("text") {
            #expect(redactor.text(attempt.kept) == attempt.kept, "\(attempt.kind)")
        }
    }
}
