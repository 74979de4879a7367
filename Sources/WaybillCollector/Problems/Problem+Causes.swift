#if Collector
import Hummingbird
import WaybillCore
import WaybillReading

extension Problem {
    init(_ failure: Redacted<QueryFailure>) {
        let failure = failure.value
        switch failure {
        case .parameter(let name, let message):
            self.init(.badRequest, message)
            parameter = name
        case .filter(let mistake):
            self.init(.badRequest, mistake.message)
            (parameter, offset) = ("filter", mistake.offset)
        case .question(let message): self = .question(message)
        case .notFound(let message): self.init(.notFound, message)
        case .ambiguousExchange: self.init(.conflict, failure.description)
        case .ambiguous(_, let ids):
            self.init(.conflict, failure.description)
            transactions = Array(ids.prefix(QueryFailure.namedTransactions))
        }
    }

    /// - Parameter subject: What it should have been.
    init(_ failure: SetDecodingFailure, instead subject: String = "transaction set") {
        self.init(
            failure.kind == .malformed ? .badRequest : .unprocessableContent,
            "This is no \(subject): \(failure.message).")
        pointer = failure.pointer
    }

    static func methodNotAllowed(_ method: HTTPRequest.Method, on route: Route) -> Problem {
        let allowed = route.methodsOfPath.map(\.rawValue).joined(separator: ", ")
        var problem = Problem(.methodNotAllowed, "\(route.path) does not take \(method.rawValue); it takes \(allowed).")
        problem.headers[.allow] = allowed
        return problem
    }

    /// RFC 6750, section 3.1: the error code is given only where a token was.
    static func unauthorized(isTokenGiven: Bool) -> Problem {
        var problem = Problem(
            .unauthorized,
            isTokenGiven
                ? "This is not one of the collector's tokens."
                : "Send the collector's token as “Authorization: Bearer ...”.")
        problem.refusal = isTokenGiven ? .unknownToken : .noToken
        problem.headers[.wwwAuthenticate] = isTokenGiven ? #"Bearer error="invalid_token""# : "Bearer"
        return problem
    }

    /// - Parameter end: As the file of tokens has it.
    static func ended(_ end: String) -> Problem {
        let day = end.hasSuffix("T00:00:00Z") ? String(end.prefix { $0 != "T" }) : end
        var problem = Problem(.unauthorized, "This token ended on \(day). Ask for a new one.")
        problem.refusal = .endedToken
        problem.headers[.wwwAuthenticate] = #"Bearer error="invalid_token""#
        return problem
    }

    /// A page anywhere can have a browser ask for what it may not read, with all that the browser knows.
    static let crossSite = Problem(.forbidden, "This was asked for by the page of another site.")

    static func forbidden(_ role: Role, for other: Role) -> Problem {
        var problem = Problem(
            .forbidden,
            "This token has the role \(role.rawValue), and this takes the role \(other.rawValue): create one with `waybill token add FOLDER --role \(other.rawValue)`."
        )
        problem.refusal = .role
        problem.headers[.wwwAuthenticate] = #"Bearer error="insufficient_scope""#
        return problem
    }

    static func tooManyRequests(retryAfter seconds: Int) -> Problem {
        var problem = Problem(.tooManyRequests, "This token sends more requests than it may. Wait for \(seconds) s.")
        problem.refusal = .rate
        problem.headers[.retryAfter] = "\(seconds)"
        return problem
    }

    static var overloaded: Problem {
        var problem = Problem(
            .serviceUnavailable, "The collector has as much to do as it has room for. Nothing was kept; try again.")
        problem.refusal = .overload
        problem.headers[.retryAfter] = "1"
        return problem
    }

    /// Its words are ours, and name no path.
    /// - Parameter what: The beginning of the sentence.
    static func onlyInFolder(_ what: String) -> Problem {
        Problem(
            .notImplemented,
            "\(what) taken in by a collector that keeps its store in a folder, and not by one in front of a database.")
    }

    static func deadline(_ error: WaybillError) -> Problem { Problem(.unprocessableContent, error.message) }

    static var ending: Problem {
        var problem = Problem(
            .serviceUnavailable, "The collector is about to end, and answers nothing more. Ask again.")
        problem.headers[.retryAfter] = "5"
        return problem
    }

    /// The rows may be gone already, and the bytes not.
    static var unfinishedErasure: Problem {
        var problem = Problem(
            .serviceUnavailable,
            "The erasure was not finished: somebody reads the store, or it cannot be written. Send it again.")
        problem.refusal = .unfinishedErasure
        problem.headers[.retryAfter] = "5"
        return problem
    }

    static func unsupported(_ type: String, insteadOf types: [String]) -> Problem {
        let given = type.isEmpty ? "no Content-Type" : "“\(type)”"
        var problem = Problem(
            .unsupportedMediaType,
            "What is taken here has the Content-Type \(types.joined(separator: " or ")); this request has \(given).")
        problem.accept = types
        problem.headers[.accept] = types.joined(separator: ", ")
        return problem
    }

    static func unsupported(coding: String, accept types: [String]) -> Problem {
        var problem = Problem(
            .unsupportedMediaType,
            "The Content-Encoding “\(coding)” is not taken; send the body as it is, or as gzip.")
        problem.accept = types
        problem.headers[.acceptEncoding] = "gzip, identity"
        return problem
    }

    static var notGzip: Problem {
        var problem = Problem(.badRequest, "The Content-Encoding is gzip, and the body is not, or not whole.")
        problem.pointer = ""
        return problem
    }

    static func tooLarge(limit: Int) -> Problem {
        var problem = Problem(.contentTooLarge, "A body has at most \(limit) bytes. Send fewer facts at a time.")
        problem.limit = limit
        return problem
    }

    static func tooLarge(decompressedLimit limit: Int) -> Problem {
        var problem = Problem(
            .contentTooLarge, "A body has at most \(limit) bytes when it is decompressed. Send fewer facts at a time.")
        problem.limit = limit
        return problem
    }

    static func tooMany(facts count: Int, limit: Int) -> Problem {
        var problem = Problem(
            .contentTooLarge, "A set has at most \(limit) facts, and this one \(count). Send fewer at a time.")
        problem.limit = limit
        return problem
    }

    static func tooMany(spans count: Int, limit: Int) -> Problem {
        var problem = Problem(
            .contentTooLarge,
            "A request has at most \(limit) spans and events of spans, and this one \(count). Send fewer at a time.")
        problem.limit = limit
        return problem
    }

    static func tooMany(resources count: Int, limit: Int) -> Problem {
        var problem = Problem(
            .contentTooLarge,
            "A request has spans of at most \(limit) resources, and this one of \(count). Send fewer at a time.")
        problem.limit = limit
        return problem
    }

    /// The store's own words stay in the log: they may name paths.
    static var unavailable: Problem {
        var problem = Problem(
            .serviceUnavailable, "The store cannot be read or written at the moment. Nothing was kept; try again.")
        problem.refusal = .store
        problem.headers[.retryAfter] = "5"
        return problem
    }
}
#endif
