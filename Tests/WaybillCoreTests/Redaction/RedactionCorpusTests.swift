import TestSupport
import Testing
import WaybillCore

/// Every kind of secret in every place, and everything harmless in every place.
@Suite(.timeLimit(.minutes(5))) struct RedactionCorpusTests {
    /// Broken, a secret of a known name, shape or form would be recorded from some place.
    @Test func noSecretIsKeptAnywhere() {
        let leaks = RedactionCorpus.attempts(Redactor()).filter(\.isLeak).map(\.sentence)
        #expect(leaks.isEmpty, "\(leaks.count) leak: \(leaks.prefix(20).joined(separator: "\n"))")
    }

    /// Broken, people would look for what they recorded and find placeholders.
    @Test func whatIsHarmlessStaysAsItIs() {
        let hidden = RedactionCorpus.harmlessAttempts(Redactor()).filter { !$0.isLeak }.map(\.sentence)
        #expect(hidden.isEmpty, "\(hidden.count) are hidden: \(hidden.prefix(20).joined(separator: "\n"))")
    }

    /// The control: without redaction every secret shows, but in a fragment, which is never recorded.
    @Test func withoutRedactionEverySecretShows() {
        let attempts = RedactionCorpus.attempts(.off)
        #expect(attempts.count > 3_000)
        let missing = attempts.filter { !$0.isLeak && $0.place != "fragment" }.map(\.sentence)
        #expect(missing.count < 3, "User-info is dropped with a URL. \(missing)")
    }

    /// Broken, an export of what was recorded would differ from it.
    @Test func redactingAgainChangesNothing() {
        let redactor = Redactor()
        for attempt in RedactionCorpus.attempts(redactor) where attempt.place.hasPrefix("text") {
            #expect(redactor.text(attempt.kept) == attempt.kept, "\(attempt.kind)")
        }
    }
}
