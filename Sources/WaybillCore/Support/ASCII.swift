/// Classes of bytes, by ASCII; a byte of a longer UTF-8 sequence belongs to none.
extension UInt8 {
    package var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
    package var isSmallLetter: Bool { self &- UInt8(ascii: "a") < 26 }
    var isCapital: Bool { self &- UInt8(ascii: "A") < 26 }
    package var isLetter: Bool { (self | 0x20).isSmallLetter }
    package var isLetterOrDigit: Bool { isLetter || isDigit }

    /// A capital letter as a small one, any other byte as it is.
    var lowercased: UInt8 { isCapital ? self | 0x20 : self }

    /// The value of a hexadecimal digit, in either case; nil for any other byte.
    package var hexadecimalValue: UInt8? {
        if isDigit { return self &- UInt8(ascii: "0") }
        let letter = (self | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }
}
