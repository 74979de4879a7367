import Testing

@testable import WaybillCore

/// The names that mark secrets.
@Suite(.timeLimit(.minutes(5))) struct SensitiveNamesTests {
    /// Breaks when a listed stem is not found, for example because it is in the wrong group of last letters.
    @Test(arguments: SensitiveNames.stems) func everyStemIsFoundInWhateverSpelling(stem: String) {
        let names = SensitiveNames()
        for name in [stem, stem.uppercased(), "x-\(stem)", "\(stem)_2", stem.map(String.init).joined(separator: "-")] {
            #expect(names.contains(name.utf8), "\(name)")
        }
        #expect(names.meaning(of: stem.dropLast().utf8) != .secret, "\(stem) alone is a secret, and not its beginning")
    }

    /// Breaks when a short word is found inside others, or is not found as a separate word.
    @Test(arguments: SensitiveNames.endings) func anEndingIsAWordOfItsOwn(word: String) {
        let names = SensitiveNames()
        let capitalized = word.prefix(1).uppercased() + word.dropFirst()
        for name in [word, word.uppercased(), "x-\(word)", "user_\(word)2", "user\(capitalized)", "a.\(word)"] {
            #expect(names.contains(name.utf8), "\(name)")
        }
        for name in ["x\(word)", "\(word)s", "\(word)_count"] { #expect(!names.contains(name.utf8), "\(name)") }
    }

    /// Breaks when a long stem in the list makes the first secret-looking name end the process.
    @Test(arguments: ["a", "sixteen-letters-", "proxyauthenticationinformation"]) func aStemMayHaveAnyLength(
        text: String
    ) {
        let stem = SensitiveNames.Stem(text)
        #expect(stem.ends(LastLetters(text.utf8)) && stem.ends(LastLetters("another-\(text)".utf8)))
        #expect(!stem.ends(LastLetters(text.utf8.dropLast())) && !stem.ends(LastLetters("\(text)s".utf8)))
    }
}
