public import Foundation
import WaybillCore

// Filters keep whole microseconds, as JSON has them; these are the same as dates.

extension TransactionFilter {
    /// Begun at or after this time; nil: at any.
    public var since: Date? {
        get { sinceMicroseconds.map { Date(microseconds: $0) } }
        set { sinceMicroseconds = newValue?.microseconds }
    }
    /// Begun before this time; nil: at any.
    public var until: Date? {
        get { untilMicroseconds.map { Date(microseconds: $0) } }
        set { untilMicroseconds = newValue?.microseconds }
    }
}

extension ExchangeFilter {
    /// Opened at or after this time; nil: at any.
    public var since: Date? {
        get { sinceMicroseconds.map { Date(microseconds: $0) } }
        set { sinceMicroseconds = newValue?.microseconds }
    }
    /// Opened before this time; nil: at any.
    public var until: Date? {
        get { untilMicroseconds.map { Date(microseconds: $0) } }
        set { untilMicroseconds = newValue?.microseconds }
    }
}
