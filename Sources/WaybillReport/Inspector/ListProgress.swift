import Foundation
import WaybillCore
import WaybillStore

/// What a list says that was not looked through to its end.
struct ListProgress {
    let progress: SearchProgress
    let noun: String
    let timeZone: TimeZone

    /// - Parameter noun: Of what is listed, one of it.
    init(_ progress: SearchProgress, of noun: String, timeZone: TimeZone) {
        (self.progress, self.noun, self.timeZone) = (progress, noun, timeZone)
    }

    var sentence: String {
        switch progress {
        case .lookedAt(let count, let microseconds):
            let time = WallTime(microseconds, in: timeZone)
            return "Looked at \(Words.count(count, noun)) so far, to \(time.date) \(time.time.prefix(8))."
        case .foundByID: return "Found by its ID or support code."
        }
    }

    /// What leads to the rest.
    var word: String {
        switch progress {
        case .lookedAt: "Look further"
        case .foundByID: "Look for it in texts"
        }
    }
}
