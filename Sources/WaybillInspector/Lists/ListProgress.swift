import Foundation
import WaybillCore
import WaybillExport
import WaybillReading

/// What a list says that was not looked through to its end.
struct ListProgress {
    let progress: SearchProgress
    let noun: String
    let timeZone: TimeZone

    /// - Parameter noun: Of what is listed, one of it.
    init(_ progress: SearchProgress, of noun: String, timeZone: TimeZone) {
        (self.progress, self.noun, self.timeZone) = (progress, noun, timeZone)
    }

    var sentence: HTML {
        switch progress {
        case .lookedAt(let count, let place): "Looked at \(Words.count(count, noun)) so far, to \(words(for: place))."
        case .foundByID: "Found by its ID or support code."
        }
    }

    private func words(for place: SearchProgress.Place) -> HTML {
        switch place {
        case .time(let microseconds): HTML.moment(microseconds, .dateAndTime, in: timeZone)
        case .duration(let microseconds): "\(microseconds.map(Words.duration) ?? "those without a duration")"
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
