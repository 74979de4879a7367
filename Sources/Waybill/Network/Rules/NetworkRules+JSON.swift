public import Foundation
public import WaybillCore

extension NetworkRules {
    /// A document of rules: `application/vnd.waybill.rules.v1+json`.
    private struct Document: Codable {
        var rules: [NetworkRule]
    }

    /// Adds the rules of a JSON document, as `Schemas/rules.v1.schema.json` describes it, before all others; the first
    /// of them has precedence.
    ///
    /// - Throws: `WaybillError` of code `.format` that says where it is wrong, as a JSON pointer (RFC 6901), and then
    ///   nothing is added.
    public func add(json: Data) throws(WaybillError) { add(try Self.rules(in: json)) }

    /// All rules in order of precedence, as a JSON document that ``add(json:)`` reads.
    public func json() -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Nothing in a rule is anything but a string, an integer, a list or an object.
        return (try? encoder.encode(Document(rules: all))) ?? Data(#"{"rules":[]}"#.utf8)
    }

    private static func rules(in json: Data) throws(WaybillError) -> [NetworkRule] {
        // As strict as for every other format, and it says where: JSONDecoder does not.
        do throws(JSONFailure) {
            try JSONReader.read(Array(json)) { reader throws(JSONFailure) in try reader.skipValue() }
        } catch {
            throw WaybillError(.format, "\(error.message), at byte \(error.offset)")
        }
        let rules: [NetworkRule]
        do {
            rules = try JSONDecoder().decode(Document.self, from: json).rules
        } catch let error as DecodingError {
            throw WaybillError(.format, error.placed)
        } catch {
            throw WaybillError(.format, "The rules cannot be read.", cause: "\(error)")
        }
        var names: Set<String> = []
        for (index, rule) in rules.enumerated() where !names.insert(rule.name).inserted {
            throw WaybillError(.format, "/rules/\(index)/name: a rule before it has that name")
        }
        return rules
    }
}
