#if Collector
import Foundation
import Hummingbird
import WaybillAnalysis
import WaybillCore
import WaybillReading

extension Collector {
    /// Answers the question in the body, about what the parameters mean where there are any, else about what its own
    /// filter means.
    func ask(_ request: Request, of store: any CollectedStore) async throws -> Response {
        let question = try QuestionBody.decode(await request.question())
        return try json(await store.answer(question, where: request.queryItems))
    }
}

extension Request {
    /// The bytes of the body, of which no more than a question's come in.
    fileprivate func question() async throws -> Data {
        let type = (headers[.contentType] ?? "").prefix { $0 != ";" }.lowercased().split(separator: " ").joined()
        guard type == QuestionBody.mediaType else { throw Problem.unsupported(question: type) }
        guard (headers[.contentEncoding] ?? "identity").lowercased() == "identity" else {
            throw Problem.unsupported(question: "a Content-Encoding")
        }
        var bytes = Data()
        for try await buffer in body {
            guard bytes.count + buffer.readableBytes <= QuestionBody.byteLimit else {
                throw Problem.tooLarge(question: QuestionBody.byteLimit)
            }
            bytes.append(contentsOf: buffer.readableBytesView)
        }
        return bytes
    }
}

extension Problem {
    fileprivate static func unsupported(question type: String) -> Problem {
        let given = type.isEmpty ? "no Content-Type" : "“\(type)”"
        var problem = Problem(
            .unsupportedMediaType,
            "A question has the Content-Type \(QuestionBody.mediaType); this request has \(given).")
        problem.accept = [QuestionBody.mediaType]
        problem.headers[.accept] = QuestionBody.mediaType
        return problem
    }

    fileprivate static func tooLarge(question limit: Int) -> Problem {
        var problem = Problem(.contentTooLarge, "A question has at most \(limit) bytes.")
        problem.limit = limit
        return problem
    }
}
#endif
