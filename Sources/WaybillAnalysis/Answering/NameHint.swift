import WaybillCore

extension String {
    /// What to say after a name that nothing has: the nearest that something has, else some of those that there are.
    ///
    /// - Parameters:
    ///   - known: In order.
    ///   - none: What to say where there are none.
    func hint(among known: [String], none: String) -> String {
        if let nearest = nearest(among: known) { return "did you mean “\(nearest)”?" }
        return known.isEmpty
            ? none : "there are \(known.prefix(12).joined(separator: ", "))\(known.count > 12 ? " and others" : "")."
    }
}
