import Testing

@testable import WaybillReport

struct HTMLTests {
    @Test func textStaysTextAndMarkupStaysMarkup() {
        let name = "<b title='x' & \"y\">"
        let inner: HTML = "<i>\(name)</i>"
        let html: HTML = "<p title=\"\(name)\">\(inner)\([inner, inner])\(17)"
        let escaped = "&lt;b title='x' &amp; &quot;y&quot;&gt;"
        #expect(html.text == "<p title=\"\(escaped)\"><i>\(escaped)</i><i>\(escaped)</i><i>\(escaped)</i>17")
    }
}
