extension String {
    /// The name that was probably meant: the one that is the fewest letters away, at most a third of its own; nil where
    /// none is that near.
    package func nearest(among names: [String]) -> String? {
        let distances = names.map { (name: $0, distance: lowercased().distance(to: $0.lowercased())) }
        return distances.filter { $0.distance <= max(1, $0.name.count / 3) }.min { $0.distance < $1.distance }?.name
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
