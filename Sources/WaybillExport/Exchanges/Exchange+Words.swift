import Foundation
import WaybillCore
import WaybillReading
import WaybillStore

extension TransactionRecord.Exchange {
    /// With the port; empty where it is not known.
    package var host: String { String(place.prefix { $0 != "/" }) }

    /// Without scheme, host and query.
    package var path: String { place.firstIndex(of: "/").map { String(place[$0...]) } ?? "/" }

    private var place: Substring {
        let rest = url.prefix { $0 != "?" }
        // Byte by byte: Foundation, which compares what looks alike, takes ten times as long.
        let start = rest.utf8.indices.first { rest.utf8[$0...].starts(with: "://".utf8) }
        return start.map { rest[$0...].dropFirst(3) } ?? rest
    }

    /// `401`, `failed`, of a WebSocket `closed 1000`; `no end recorded` while it is in progress.
    package var result: String {
        closing ?? status.map { "\($0)" } ?? state?.name ?? "no end recorded"
    }

    /// `closed 1000`; nil where it was no WebSocket, or no close frame was seen.
    package var closing: String? { transfer.webSocket?.closeCode.map { "closed \($0)" } }

    /// Whether no whole response came, or one that tells an error.
    package var hasFailed: Bool { state == .failed || (status ?? 0) >= 400 }
}

extension ExchangeBody {
    /// What is missing and why, in a sentence: `The first 64.0 kB of 1.3 MB were kept.`; nil for a whole one.
    package var lack: String? {
        guard !isWhole else { return nil }
        let (kept, all) = (Words.byteCount(bytes.count), byteCount.map { " of \(Words.byteCount($0))" } ?? "")
        return switch omission {
        case .type: "A body\(all) was not kept: it is no text."
        case .encoding: "A body\(all) was not kept: it was compressed."
        case .limit, .room, .unfinished, nil:
            bytes.isEmpty
                ? "Nothing\(all.isEmpty ? " of the body" : all) was kept." : "The first \(kept)\(all) were kept."
        }
    }
}
