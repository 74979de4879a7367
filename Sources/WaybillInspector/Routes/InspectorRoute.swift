/// The routes of the inspector: pages for people, and what they load.
package enum InspectorRoute: String, CaseIterable, Sendable {
    case home = "GET /"
    case listTransactions = "GET /transactions"
    case downloadTransactions = "GET /transactions.html"
    case showTransaction = "GET /transactions/{id}"
    case downloadTransaction = "GET /transactions/{id}/{file}"
    case compareTransactions = "GET /beside"
    case listExchanges = "GET /network"
    case showExchange = "GET /network/{id}"
    case downloadExchange = "GET /network/{id}/{file}"
    /// What a search field completes: an array of JSON.
    case listTerms = "GET /terms"
    case listUseCases = "GET /use-cases"
    case downloadUseCases = "GET /use-cases.csv"
    case showUseCase = "GET /use-cases/{id}"
    case askUseCase = "GET /use-cases/{id}/{file}"
    case listSources = "GET /sources"
    case showSource = "GET /sources/{id}"
    case showDelivery = "GET /delivery"
    case downloadDelivery = "GET /delivery/{file}"
    case follow = "GET /live"
    case loadAsset = "GET /assets/{name}"
    case askToken = "GET /login"
    case logIn = "POST /login"
    case logOut = "POST /logout"
    // Of an app's own process alone.
    case showControls = "GET /controls"
    case change = "POST /controls"
    case newRule = "GET /controls/rule"
    case addRule = "POST /controls/rule"
    case editRule = "GET /controls/rule/{id}"
    case saveRule = "POST /controls/rule/{id}"

    /// The one that answers a request; nil where none does.
    init?(_ request: InspectorRequest) {
        let asked = request.path.split(separator: "/")
        let found = Self.allCases.first { route in
            let own = route.path.split(separator: "/")
            return route.methods.contains(request.method) && own.count == asked.count
                && zip(own, asked).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
        }
        guard let found else { return nil }
        self = found
    }

    /// A path of Hummingbird's router and of OpenAPI alike.
    package var path: String { String(rawValue.drop { $0 != "/" }) }

    /// The methods that it answers. A stream has no end that its length could be told by.
    package var methods: [String] {
        if rawValue.hasPrefix("POST") { return ["POST"] }
        return self == .follow ? ["GET"] : ["GET", "HEAD"]
    }

    /// Whether it is there only with controls.
    package var isControl: Bool {
        switch self {
        case .showControls, .change, .newRule, .addRule, .editRule, .saveRule: true
        case .home, .listTransactions, .downloadTransactions, .showTransaction, .downloadTransaction,
            .compareTransactions, .listExchanges, .showExchange, .downloadExchange, .listTerms, .listUseCases,
            .downloadUseCases, .showUseCase, .askUseCase,
            .listSources, .showSource, .showDelivery, .downloadDelivery, .follow, .loadAsset, .askToken, .logIn,
            .logOut:
            false
        }
    }

    /// The longest form in bytes that is sent there: a login has some hundred, a rule the body of an answer, of which a
    /// character can take nine.
    package var formLimit: Int { self == .addRule || self == .saveRule ? 1 << 20 : 8192 }

    /// Whether it shows what was recorded: where the login leads back to, other than to a file, a stream, or itself.
    var isPage: Bool {
        switch self {
        case .home, .downloadTransactions, .downloadTransaction, .downloadExchange, .downloadUseCases,
            .downloadDelivery, .follow, .listTerms,
            .loadAsset,
            .askToken, .logIn, .logOut, .showControls, .change, .newRule, .addRule, .editRule, .saveRule:
            false
        case .listTransactions, .showTransaction, .compareTransactions, .listExchanges, .showExchange, .listUseCases,
            .showUseCase,
            .askUseCase, .listSources, .showSource, .showDelivery:
            true
        }
    }

    /// How many components its path has.
    package var depth: Int { path.split(separator: "/").count }
}
