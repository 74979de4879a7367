/// Lengths in Unicode scalars, as `Limits` counts.
extension String {
    /// Whether it has more scalars than this.
    func isLonger(than limit: Int) -> Bool { utf8.count > limit && unicodeScalars.dropFirst(limit).first != nil }

    /// The first scalars; nil when there are no more than that.
    package func cut(to limit: Int) -> String? {
        isLonger(than: limit) ? String(String.UnicodeScalarView(unicodeScalars.prefix(limit))) : nil
    }
}
