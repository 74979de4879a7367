import WaybillCore

extension RuleForm: Redactable {
    /// Every text that a person or an app has written, by the name that it stands under where it has one.
    func redacted(by redactor: Redactor) -> RuleForm {
        var form = self
        for field in ["name", "method", "host", "body"] { form[field] = redactor.text(self[field]) }
        form["path"] = redactor.path(self["path"])
        form["url"] = redactor.address(self["url"])
        for index in 0..<fieldCount {
            let name = self[Self.field(index)]
            form[Self.field(index)] = redactor.text(name)
            form[Self.fieldValue(index)] = redactor.value(self[Self.fieldValue(index)], named: name)
        }
        var contentType: String?
        form["headers"] = lines("headers").map { line in
            let (name, value) = Self.headerField(line)
            guard !name.isEmpty else { return redactor.text(line) }
            if name.lowercased() == "content-type" { contentType = contentType ?? value }
            return "\(name): \(redactor.value(value, named: name))"
        }.joined(separator: "\n")
        let body = redactor.body(Array(self["text"].utf8), contentType: contentType, keepsBinary: true)
        form["text"] = redactor.text(String(decoding: body, as: UTF8.self))
        return form
    }

    func lines(_ field: String) -> [String] {
        self[field].split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The name and the value in a line; the name is empty where the line is no header field.
    static func headerField(_ line: String) -> (name: String, value: String) {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return ("", line) }
        return (String(parts[0]).trimmed, String(parts[1]).trimmed)
    }

    /// This form as it was sent, with what was not shown put back where the page had its placeholder.
    ///
    /// A line that comes back as it was shown is the one that was not. In a line that is another one now, nobody can say
    /// what the placeholder stands for, and to save the placeholder would be to lose the secret.
    ///
    /// - Parameters:
    ///   - original: The form of the rule that is edited.
    ///   - shown: The same, redacted.
    func restored(from original: RuleForm, shown: RuleForm) throws(RuleMistake) -> RuleForm {
        var form = self
        for field in Self.texts where original[field] != shown[field] {
            form[field] = try restored(field, from: original, shown: shown)
        }
        for index in 0..<fieldCount {
            let (name, value) = (Self.field(index), Self.fieldValue(index))
            if original[name] != shown[name] { form[name] = try restored(name, from: original, shown: shown) }
            guard original[value] != shown[value] else { continue }
            // Under another name it might be shown.
            guard self[name] == shown[name] || !self[value].contains(Redactor.placeholder) else {
                throw Self.unknown(value)
            }
            form[value] = try restored(value, from: original, shown: shown)
        }
        return form
    }

    private static let texts = ["name", "headers", "text"] + Part.allCases.map(\.rawValue)

    private func restored(_ field: String, from original: RuleForm, shown: RuleForm) throws(RuleMistake) -> String {
        if self[field] == shown[field] { return original[field] }
        let (originals, shownLines) = (original.lines(field), shown.lines(field))
        var known: [String: [String]] = [:]
        if originals.count == shownLines.count {
            for (line, original) in zip(shownLines, originals).reversed() { known[line, default: []].append(original) }
        }
        var restored: [String] = []
        for line in lines(field) {
            guard line.contains(Redactor.placeholder) else {
                restored.append(line)
                continue
            }
            guard let original = known[line]?.popLast() else { throw Self.unknown(field) }
            restored.append(original)
        }
        return restored.joined(separator: "\n")
    }

    private static func unknown(_ field: String) -> RuleMistake {
        RuleMistake(
            field,
            "Write in full what is to stand for \(Redactor.placeholder): it is not shown here, and is kept only in a line that is not changed."
        )
    }
}

extension Redactor {
    /// What a whole URL, or a piece of one, is compared with.
    fileprivate func address(_ pattern: String) -> String {
        guard let mark = pattern.firstIndex(of: "?") else { return path(pattern) }
        return "\(path(String(pattern[..<mark])))?\(form(String(pattern[pattern.index(after: mark)...])))"
    }
}

extension String {
    var trimmed: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
