package import WaybillExport

/// What an exchange can be taken away as.
package enum ExchangeFile: String, Sendable, CaseIterable {
    /// What was kept of a body: as what it is where browsers show it as a picture, as bytes else.
    case requestBody = "request-body", responseBody = "response-body"
    case har, curl, text, json

    /// nil for the bodies.
    package var format: ExchangeFormat? { ExchangeFormat(rawValue: rawValue) }

    /// On the button.
    var name: String {
        switch self {
        case .requestBody: "Request body"
        case .responseBody: "Response body"
        case .curl: "cURL"
        case .text: "Text"
        case .har, .json: rawValue.uppercased()
        }
    }

    /// What the file's name ends with.
    package var suffix: String {
        switch self {
        case .requestBody, .responseBody: rawValue
        case .curl: "sh"
        case .text: "txt"
        case .har, .json: rawValue
        }
    }

    /// Of the answer; of bodies that are no picture.
    package var mediaType: String {
        switch self {
        case .requestBody, .responseBody: "application/octet-stream"
        case .curl, .text: "text/plain; charset=utf-8"
        case .har, .json: "application/json"
        }
    }
}
