extension Fact.ExchangeOpened {
    /// As far as its parts are known: `https://api.example.com/login?page=1`.
    package var url: String {
        var url = scheme.map { "\($0)://" } ?? ""
        url += host ?? ""
        if let port { url += ":\(port)" }
        url += path
        if let query { url += "?\(query)" }
        return url
    }
}
