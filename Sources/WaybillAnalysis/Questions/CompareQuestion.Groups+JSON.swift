import Foundation
import WaybillCore

/// Two values are `{"segmentation": "variant", "a": "A", "b": "B"}`, where a value that is left out stands for those
/// that have none; two stretches of time are `{"a_since_us": 0, "a_until_us": 5, "b_since_us": 5, "b_until_us": 9}`.
extension CompareQuestion.Groups: Codable {
    private enum CodingKeys: CodingKey {
        case segmentation, a, b, aSinceMicroseconds, aUntilMicroseconds, bSinceMicroseconds, bUntilMicroseconds
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let segmentation = try container.decodeIfPresent(Segmentation.self, forKey: .segmentation) {
            self = .values(
                of: segmentation, try container.decodeIfPresent(String.self, forKey: .a),
                try container.decodeIfPresent(String.self, forKey: .b))
            return
        }
        func window(_ since: CodingKeys, _ until: CodingKeys) throws -> Range<Date> {
            let (since, end) = (
                try container.decode(Int64.self, forKey: since), try container.decode(Int64.self, forKey: until)
            )
            guard since <= end else {
                throw DecodingError.dataCorruptedError(
                    forKey: until, in: container, debugDescription: "It lies before the beginning.")
            }
            return Range(microseconds: since..<end)
        }
        self = .windows(
            try window(.aSinceMicroseconds, .aUntilMicroseconds), try window(.bSinceMicroseconds, .bUntilMicroseconds))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .values(let segmentation, let a, let b):
            try container.encode(segmentation, forKey: .segmentation)
            try container.encodeIfPresent(a, forKey: .a)
            try container.encodeIfPresent(b, forKey: .b)
        case .windows(let a, let b):
            try container.encode(a.microseconds.lowerBound, forKey: .aSinceMicroseconds)
            try container.encode(a.microseconds.upperBound, forKey: .aUntilMicroseconds)
            try container.encode(b.microseconds.lowerBound, forKey: .bSinceMicroseconds)
            try container.encode(b.microseconds.upperBound, forKey: .bUntilMicroseconds)
        }
    }
}
