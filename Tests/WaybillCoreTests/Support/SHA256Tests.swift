import Testing
import WaybillCore

/// A wrong hash would lock out every token of a collector, and block every page's own script.
@Suite(.timeLimit(.minutes(5))) struct SHA256Tests {
    /// The test vectors of FIPS 180-4, and one at each length around the end of a block.
    @Test func theHashIsSHA256() {
        #expect(SHA256.base64([]) == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        #expect(SHA256.base64(Array("abc".utf8)) == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
        #expect(
            SHA256.base64(Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8))
                == "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=")
    }

    /// Breaks when a length around the end of a block is padded wrongly: `head -c N /dev/zero | sha256sum`.
    @Test(arguments: [
        (55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"),
        (56, "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb"),
        (63, "c7723fa1e0127975e49e62e753db53924c1bd84b8ac1ac08df78d09270f3d971"),
        (64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"),
        (119, "f616b0d54e78571a9611f343c9f8e022e859e920381ab0e4d3da01e193a7bd7e"),
        (1_000_000, "d29751f2649b32ff572b5e0a9f541ea660a50f94ff0beedfb0b692b924cc8025"),
    ])
    func everyLengthIsPaddedRight(count: Int, hash: String) {
        #expect(SHA256.hex([UInt8](repeating: 0, count: count)) == hash)
    }
}
