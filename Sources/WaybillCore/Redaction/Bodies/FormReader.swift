/// `application/x-www-form-urlencoded`, a member at a time.
struct FormReader: BodyReader {
    private let redactor: Redactor
    private var member: [UInt8] = []
    private var isTooLong = false

    init(_ redactor: Redactor) { self.redactor = redactor }

    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        for byte in bytes {
            if byte == UInt8(ascii: "&") {
                endMember(into: &output)
                output.append(byte)
            } else if !isTooLong {
                member.append(byte)
                isTooLong = member.count == BodyRedactor.unitLimit
            }
        }
    }

    mutating func finish(isWhole: Bool, into output: inout [UInt8]) {
        if isWhole { endMember(into: &output) }
    }

    private mutating func endMember(into output: inout [UInt8]) {
        output += isTooLong ? Array(Redactor.placeholder.utf8) : redactor.form(member[...])
        member.removeAll(keepingCapacity: true)
        isTooLong = false
    }
}
