import Testing

@testable import WaybillCore

/// Which names belong to secrets.
@Suite(.timeLimit(.minutes(5))) struct SensitiveNamesTests {
    /// Breaks when a stem is in the list and is not found, as one that stands in the wrong group of last letters.
    @Test(arguments: SensitiveNames.stems) func everyStemIsFoundInWhateverSpelling(stem: String) {
        let names = SensitiveNames()
        for name in [stem, stem.uppercased(), "x-\(stem)", "\(stem)_2", stem.map(String.init).joined(separator: "-")] {
            #expect(names.contains(name.utf8), "\(name)")
        }
        #expect(names.meaning(of: stem.dropLast().utf8) != .secret, "\(stem) alone is a secret, and not its beginning")
    }

    /// Breaks when a word of few letters is found inside others, or not where it is a word of its own.
    @Test(arguments: SensitiveNames.endings) func anEndingIsAWordOfItsOwn(word: String) {
        let names = SensitiveNames()
        let capitalized = word.prefix(1).uppercased() + word.dropFirst()
        for name in [word, word.uppercased(), "x-\(word)", "user_\(word)2", "user\(capitalized)", "a.\(word)"] {
            #expect(names.contains(name.utf8), "\(name)")
        }
        for name in ["x\(word)", "\(word)s", "\(word)_count"] { #expect(!names.contains(name.utf8), "\(name)") }
    }

    /// Breaks when the first secret-looking name ends the process, because somebody added a long stem.
    @Test(arguments: ["a", "sixteen-letters-", "proxyauthenticationinformation"]) func aStemMayHaveAnyLength(
        text: String
    ) {
        let stem = SensitiveNames.Stem(text)
        #expect(stem.ends(LastLetters(text.utf8)) && stem.ends(LastLetters("another-\(text)".utf8)))
        #expect(!stem.ends(LastLetters(text.utf8.dropLast())) && !stem.ends(LastLetters("\(text)s".utf8)))
    }
}
