/// How long the parts of a fact may be; what is longer is truncated when recorded, counted, and refused when received.
///
/// Lengths count Unicode scalars, as JSON Schema does. The same numbers stand in `Schemas/`.
public enum Limits {
    /// Attributes of one transaction, event, exchange or source.
    public static let attributes = 32
    /// The name of an attribute or of a header field.
    public static let nameLength = 128
    /// The value of an attribute.
    public static let valueLength = 1024
    /// A use case's or event's name, an error's domain, an app's or a device's name, a host, a method.
    public static let labelLength = 256
    /// The text of an error.
    public static let textLength = 2048
    /// The path or the query of a URL, or the value of a header field.
    public static let fieldLength = 4096
    /// Header fields of a request or of a response.
    public static let headerFields = 64
    /// Redirects that are kept of an exchange.
    public static let redirects = 20
    /// The largest integer that a reader of doubles gets right: 2^53 - 1.
    public static let largestInteger = (1 << 53) - 1
}
