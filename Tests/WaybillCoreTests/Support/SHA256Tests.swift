import Testing
import WaybillCore

/// A wrong hash would lock out every token of a collector, and every page's own script.
@Suite(.timeLimit(.minutes(5))) struct SHA256Tests {
    /// The examples of FIPS 180-4's own test vectors, and one at each length around the end of a block.
    @Test func theHashIsSHA256() {
        #expect(SHA256.base64([]) == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        #expect(SHA256.base64(Array("abc".utf8)) == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
        #expect(
            SHA256.base64(Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8))
                == "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=")
    }
}
