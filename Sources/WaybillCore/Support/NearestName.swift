extension String {
    /// The name that was probably meant: the one that is the fewest letters away, at most a third of its own; nil where
    /// none is that near, or it is longer than people mistype.
    ///
    /// Of very many names the first are looked at: each costs as many steps as the letters of both multiplied.
    package func nearest(among names: [String]) -> String? {
        let (longest, most) = (64, 2_000)
        let word = lowercased()
        guard word.count <= longest else { return nil }
        var nearest: (name: String, distance: Int)?
        for name in names.lazy.filter({ $0.utf8.count <= 4 * longest }).prefix(most) {
            // What is longer or shorter by more than that is further away.
            let allowed = max(1, name.count / 3)
            guard abs(name.count - word.count) <= allowed else { continue }
            let distance = word.distance(to: name.lowercased())
            if distance <= allowed, distance < nearest?.distance ?? .max { nearest = (name, distance) }
        }
        return nearest?.name
    }

    /// How many letters have to be inserted, removed or replaced (Levenshtein, 1966).
    private func distance(to other: String) -> Int {
        let letters = Array(other)
        var row = Array(0...letters.count)
        for (line, letter) in enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for index in letters.indices {
                let replaced = diagonal + (letter == letters[index] ? 0 : 1)
                diagonal = row[index + 1]
                row[index + 1] = Swift.min(replaced, diagonal + 1, row[index] + 1)
            }
        }
        return row[letters.count]
    }
}
