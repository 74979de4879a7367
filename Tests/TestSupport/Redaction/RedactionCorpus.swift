package import WaybillCore

/// Secrets of every kind in every place, and harmless values that look like secrets. Each kind and each place is one
/// line, and each kind is tried in each place.
///
/// The tests require that nothing leaks and nothing harmless is hidden. The benchmark prints how much leaks and how
/// much is hidden.
package enum RedactionCorpus {
    /// One secret in one place.
    package struct Attempt: Sendable {
        package var kind: String
        package var place: String
        /// The text that must be gone.
        package var secret: String
        package var kept: String

        /// Whether the secret is still there, in any encoding.
        package var isLeak: Bool {
            kept.contains(secret) || RedactionCorpus.decodings(of: kept).contains { $0.contains(secret) }
        }
        package var sentence: String { "\(kind) in \(place): \(kept)" }
    }

    /// A place for a name and its value.
    struct Place: Sendable {
        var name: String
        /// Whether harmless values stay there.
        var isKept = true
        /// Records a value under a name, and returns the kept text.
        var keep: @Sendable (Redactor, _ name: String, _ value: String) -> String
    }

    /// Each secret in each place, as a redactor leaves it.
    package static func attempts(_ redactor: Redactor) -> [Attempt] {
        var random = CorpusLetters(seed: 7)
        var result: [Attempt] = []
        for place in places + unnamedPlaces {
            for shape in shapes {
                let (text, secret) = shape.make(&random)
                result.append(
                    Attempt(
                        kind: shape.name, place: place.name, secret: secret, kept: place.keep(redactor, "note", text)))
            }
        }
        for place in places + namedPlaces {
            for name in names {
                let secret = random.word(18)
                let kept = place.keep(redactor, name, secret)
                result.append(Attempt(kind: "name \(name)", place: place.name, secret: secret, kept: kept))
            }
        }
        for name in headerNames {
            let secret = random.word(18)
            let kept = redactor.value(secret, named: name)
            result.append(Attempt(kind: "header \(name)", place: "header", secret: secret, kept: kept))
        }
        for form in forms {
            let secret = random.word(18)
            let kept = form.keep(redactor, secret)
            result.append(Attempt(kind: form.name, place: "form", secret: secret, kept: kept))
        }
        return result
    }

    /// Each harmless value in each place, where it must still be present.
    package static func harmlessAttempts(_ redactor: Redactor) -> [Attempt] {
        let ofTexts = (places + unnamedPlaces).filter(\.isKept).flatMap { place in
            harmlessTexts.map { text in
                Attempt(
                    kind: "text", place: place.name, secret: text,
                    kept: place.keep(redactor, "note", text))
            }
        }
        let ofNames = (places + namedPlaces).filter(\.isKept).flatMap { place in
            harmlessNames.map { name in
                let kept = place.keep(redactor, name, "green-12")
                return Attempt(kind: "name \(name)", place: place.name, secret: "green-12", kept: kept)
            }
        }
        let plain = ["query", "form", "attribute", "text", "text, colon", "log", "YAML"]
        let ofPairs = (places + namedPlaces).filter { plain.contains($0.name) }.flatMap { place in
            harmlessPairs.map { name, value in
                let shown = place.name == "attribute" || !value.contains(" ") ? value : "3 of 5"
                return Attempt(
                    kind: "\(name) of \(value)", place: place.name, secret: shown,
                    kept: place.keep(redactor, name, value))
            }
        }
        return ofTexts + ofNames + ofPairs
            + harmlessHeaderFields.map { name, value in
                Attempt(
                    kind: "header \(name)", place: "header", secret: value, kept: redactor.value(value, named: name))
            }
            + harmlessURLs.map { Attempt(kind: "URL", place: "URL", secret: $0, kept: redactor.wholeURL($0)) }
            + harmlessBodies.map { type, body in
                Attempt(kind: "body", place: type, secret: body, kept: Self.body(redactor, body, type))
            }
    }

    static func body(_ redactor: Redactor, _ text: String, _ type: String) -> String {
        String(decoding: redactor.body(Array(text.utf8), contentType: type), as: UTF8.self)
    }
}

/// Random letters as a maker of secrets might draw them; the same for the same seed.
package struct CorpusLetters: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    /// SplitMix64.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    private static let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnopqrstuvwxyz")

    /// A word that has both letters, of either case, and digits.
    package mutating func word(_ count: Int) -> String {
        String(
            (0..<count).map { index in
                index % 5 == 3
                    ? Character("\(Int.random(in: 2...9, using: &self))")
                    : Self.letters.randomElement(using: &self) ?? "x"
            })
    }

    package mutating func digits(_ count: Int) -> String {
        (0..<count).map { _ in "\(Int.random(in: 1...9, using: &self))" }.joined()
    }

    package mutating func hexadecimal(_ count: Int) -> String {
        (0..<count).map { _ in String(Int.random(in: 0...15, using: &self), radix: 16) }.joined()
    }

    package mutating func capitals(_ count: Int) -> String { word(count).uppercased() }
}
