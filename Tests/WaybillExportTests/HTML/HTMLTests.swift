import TestSupport
import Testing
import WaybillCore

@testable import WaybillExport

@Suite(.timeLimit(.minutes(5))) struct HTMLTests {
    @Test func textStaysTextAndMarkupStaysMarkup() {
        let name = "<b title='x' & \"y\">"
        let inner: HTML = "<i>\(name)</i>"
        let html: HTML =
            "<p title=\"\(name)\">\(inner)\([inner, inner])\(17)\(" class=bad", if: true)\(" class=good", if: false)"
        let escaped = "&lt;b title='x' &amp; &quot;y&quot;&gt;"
        #expect(html.text == "<p title=\"\(escaped)\"><i>\(escaped)</i><i>\(escaped)</i><i>\(escaped)</i>17 class=bad")
    }

    @Test func whatWouldDeceiveTheReaderIsReplaced() {
        let html: HTML = "\("a\u{0}b\u{1B}c\u{7F}d\u{85}e\u{202E}f\u{2066}g\r")"
        #expect(html.text == "a\u{FFFD}b\u{FFFD}c\u{FFFD}d\u{FFFD}e\u{FFFD}f\u{FFFD}g\u{FFFD}")
        let kept: HTML = "\("tab\tline\n\u{A0}é\u{2014}\u{2028}漢😀")"
        #expect(kept.text == "tab\tline\n\u{A0}é\u{2014}\u{2028}漢😀")
    }

    /// Breaks when invisible characters make two different names look alike, or hide a word, on pages or on a terminal.
    @Test(arguments: [
        "\u{200B}", "\u{200C}", "\u{200D}", "\u{200E}", "\u{200F}", "\u{2060}", "\u{2064}", "\u{FEFF}", "\u{AD}",
        "\u{61C}", "\u{180E}", "\u{115F}", "\u{3164}", "\u{FFA0}", "\u{FFF9}", "\u{E0041}", "\u{202E}", "\u{2066}",
    ]) func whatIsNotSeenIsShown(character: String) {
        let html: HTML = "\("pay\(character)pal")"
        #expect(html.text == "pay\u{FFFD}pal")
        #expect("pay\(character)pal".printable == "pay\u{FFFD}pal" && "x\(character)".printable == "x\u{FFFD}")
    }

    /// Breaks when emoji of several people and Persian words fall apart.
    @Test(arguments: ["👩\u{200D}👩\u{200D}👧", "می\u{200C}خواهم", "क्\u{200D}ष", "漢字かな가ｱ"])
    func whatJoinsLettersStays(text: String) {
        let html: HTML = "\(text)"
        #expect(html.text == text && text.printable == text)
    }

    @Test(arguments: HostileText.corpus)
    func noHostileTextKeepsAMarkThatMeansSomething(_ text: String) {
        let html: HTML = "\(text)"
        #expect(html.text.allSatisfy { !"<>\"".contains($0) })
        #expect(html.text.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" || $0 == "\t" })
    }

    @Test(arguments: [(0, "0"), (1, "0.1"), (234, "23.4"), (1000, "100"), (-15, "-1.5")])
    func tenthsOfAPercentAreWrittenShort(_ tenths: Int, _ text: String) {
        let html: HTML = "\(percent: tenths)"
        #expect(html.text == text)
    }

    @Test func aPageAllowsNothingButItsOwnStyleAndScript() {
        let page = HTML.page(title: "<x>", style: Array("p{}".utf8), script: Array("1".utf8), body: "<p>").text
        #expect(page.hasPrefix("<!DOCTYPE html>\n"))
        #expect(page.contains("<title>&lt;x&gt;</title>"))
        let (style, script) = (SHA256.base64(Array("p{}".utf8)), SHA256.base64(Array("1".utf8)))
        #expect(
            page.contains(
                "default-src 'none'; style-src 'sha256-\(style)'; script-src 'sha256-\(script)'; base-uri 'none'"))
    }
}
