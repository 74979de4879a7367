package import WaybillCore
import WaybillExport
package import WaybillReading

/// Redacts what is told of sources and of delivery once more; see `Redactor+Record`.
extension Redactor {
    /// Every string of a source.
    package func record(_ record: SourceRecord) -> SourceRecord {
        var record = record
        record.app = text(record.app)
        record.appVersion = text(record.appVersion)
        record.device = text(record.device)
        record.os = text(record.os)
        record.osVersion = text(record.osVersion)
        record.attributes = attributes(record.attributes).0
        return record
    }

    /// The names of other sources.
    package func clocks(_ clocks: SourceClocks) -> SourceClocks {
        var clocks = clocks
        for index in clocks.others.indices { clocks.others[index].source = source(clocks.others[index].source) }
        return clocks
    }

    /// The names of other sources, and transactions.
    package func details(_ details: SourceDetails) -> SourceDetails {
        var details = details
        details.clocks = details.clocks.map(clocks)
        details.transactions = details.transactions.map(summary)
        return details
    }

    /// Names, reasons and samples.
    package func delivery(_ state: DeliveryState) -> DeliveryState {
        var state = state
        if var own = state.own {
            own.settled = own.settled.map(summary)
            for index in own.totals.indices { own.totals[index].app = text(own.totals[index].app) }
            state.own = own
        }
        for index in state.quarantine.indices {
            state.quarantine[index].app = text(state.quarantine[index].app)
            state.quarantine[index].reason = text(state.quarantine[index].reason)
            state.quarantine[index].sample = state.quarantine[index].sample.map(fact)
        }
        for index in state.legacyQuarantine.indices {
            let entry = state.legacyQuarantine[index]
            state.legacyQuarantine[index].reason = text(entry.reason)
            state.legacyQuarantine[index].json = String(
                decoding: body(Array(entry.json.utf8), contentType: "application/json"), as: UTF8.self)
        }
        return state
    }

    /// Names of codes, of apps and of versions.
    package func names(_ conflicts: [NameConflict], useCases: [RecordedName], starts: [AppVersion: Int]) -> ChangedNames {
        let conflicts = conflicts.map { conflict in
            var conflict = conflict
            conflict.names = conflict.names.map { use in
                NameConflict.Use(name: text(use.name), app: text(use.app), versions: use.versions.map(text))
            }
            return conflict
        }
        let useCases = Dictionary(useCases.map { ($0.useCase, text($0.name)) }, uniquingKeysWith: { first, _ in first })
        let redacted = starts.map { (AppVersion(app: text($0.key.app), version: text($0.key.version)), $0.value) }
        return ChangedNames(conflicts, useCases: useCases, starts: Dictionary(redacted, uniquingKeysWith: min))
    }
}
