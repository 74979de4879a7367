/// How long the parts of a fact may be; what is longer is truncated when recorded, counted, and refused when received.
/// And how much may stand beside the facts of a set.
///
/// Lengths count Unicode scalars, as JSON Schema does. The same numbers stand in `Schemas/`.
package enum Limits {
    /// Attributes of one transaction, event, exchange or source.
    package static let attributes = 32
    /// The name of an attribute or of a header field.
    package static let nameLength = 128
    /// The value of an attribute.
    package static let valueLength = 1024
    /// A use case's or event's name, an error's domain, an app's or a device's name, a host, a method.
    package static let labelLength = 256
    /// The text of an error.
    package static let textLength = 2048
    /// Errors behind an error.
    package static let underlyingErrors = 4
    /// The path or the query of a URL, or the value of a header field.
    package static let fieldLength = 4096
    /// Header fields of a request or of a response.
    package static let headerFields = 64
    /// Redirects that are kept of an exchange.
    package static let redirects = 20
    /// Messages of a WebSocket that are kept: one half of them from its beginning, the other from its end.
    package static let webSocketMessages = 500
    /// Facts that a source is believed to have recorded: 2^40, a million each second for twelve days. A receiver adds
    /// up what many sources tell.
    package static let recordedFacts: Int64 = 1 << 40
    /// Sampling rates of one receipt.
    package static let samplingRates = 256
    /// Sources of one set.
    package static let sources = 1_000
    /// Clock anchors of one set, names, and ranges of dropped facts: so many of each, in all its sources together. A
    /// store keeps no more anchors of a source than this.
    package static let envelopeItems = 20_000
    /// Names that a store takes from others, of all apps and versions together: a hundred versions with 2,000 each.
    package static let names = 10 * envelopeItems
    /// The largest integer that a reader of doubles gets right: 2^53 - 1.
    package static let largestInteger: Int64 = (1 << 53) - 1
    /// The largest code of a use case or of an event: those are cases of an enum of the app's, and so an `Int`.
    package static let largestCode = Int(clamping: largestInteger)
}
