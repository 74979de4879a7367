package import Foundation

/// The codes of `URLError` by the names that Swift has for them.
extension URLError.Code {
    private static let names: [Int: String] = [
        -1: "unknown", -999: "cancelled", -1000: "badURL", -1001: "timedOut", -1002: "unsupportedURL",
        -1003: "cannotFindHost",
        -1004: "cannotConnectToHost", -1005: "networkConnectionLost", -1006: "dnsLookupFailed",
        -1007: "httpTooManyRedirects",
        -1008: "resourceUnavailable", -1009: "notConnectedToInternet", -1010: "redirectToNonExistentLocation",
        -1011: "badServerResponse",
        -1012: "userCancelledAuthentication", -1013: "userAuthenticationRequired", -1014: "zeroByteResource",
        -1015: "cannotDecodeRawData",
        -1016: "cannotDecodeContentData", -1017: "cannotParseResponse", -1018: "internationalRoamingOff",
        -1019: "callIsActive",
        -1020: "dataNotAllowed", -1021: "requestBodyStreamExhausted",
        -1022: "appTransportSecurityRequiresSecureConnection",
        -1100: "fileDoesNotExist", -1101: "fileIsDirectory", -1102: "noPermissionsToReadFile",
        -1103: "dataLengthExceedsMaximum",
        -1200: "secureConnectionFailed", -1201: "serverCertificateHasBadDate", -1202: "serverCertificateUntrusted",
        -1203: "serverCertificateHasUnknownRoot", -1204: "serverCertificateNotYetValid",
        -1205: "clientCertificateRejected",
        -1206: "clientCertificateRequired", -2000: "cannotLoadFromNetwork",
    ]
    /// All names, in their order in the alphabet.
    package static let allNames = names.values.sorted()

    private static let numbers = Dictionary(uniqueKeysWithValues: names.map { ($0.value, $0.key) })

    /// nil for a name that no code has.
    package init?(name: String) {
        guard let number = Self.numbers[name] else { return nil }
        self.init(rawValue: number)
    }

    /// nil for a code that has no name here.
    package var name: String? { Self.names[rawValue] }
}
