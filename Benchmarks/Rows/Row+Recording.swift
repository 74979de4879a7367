import Foundation
import Waybill
import WaybillCore

/// What the rows record.
private enum Login: Int, UseCase {
    static let code = 0
    case initiated = 0
}

extension Row {
    /// An event without attributes on the caller's thread; the writer works meanwhile.
    static let log = Row("log", unit: "ns/event", against: "clock_gettime + 48-byte copy") {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-bench-\(GUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let count = 100_000
        var options = TransactionManager.Options()
        options.memoryCapacity = 20 * count  // so that nothing is refused, which would be cheaper
        let transactions = TransactionManager(store: .directory(folder), options: options)
        let login = transactions.begin(Login.self)
        var buffer = [UInt8](repeating: 0, count: 48 * 1024)
        let record = [UInt8](repeating: 7, count: 48)
        let comparison = Comparison.nanoseconds(operations: count) {
            var taken = 0
            for _ in 0..<count where login.log(.initiated) == .inMemory { taken += 1 }
            precondition(taken == count, "events were refused: the figure would be of something else")
            return taken
        } against: {
            var time = timespec()
            var sum = 0
            for index in 0..<count {
                clock_gettime(CLOCK_BOOTTIME, &time)
                buffer.withUnsafeMutableBytes { buffer in
                    record.withUnsafeBytes { (buffer.baseAddress! + 48 * (index % 1024)).copyMemory(from: $0.baseAddress!, byteCount: 48) }
                }
                sum &+= time.tv_nsec
            }
            return sum &+ Int(buffer[count % 48])
        }
        login.finish()
        try await transactions.sync()
        return comparison
    }

    /// Memory of a process at rest beside one that links the library and does not use it.
    static let memory = Row("memory", unit: "MB resident", against: "before the manager") {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-bench-\(GUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let before = residentMegabytes()
        let transactions = TransactionManager(store: .directory(folder))
        transactions.perform(Login.self) { $0.log(.initiated) }
        try await transactions.sync()
        let after = residentMegabytes()
        return withExtendedLifetime(transactions) { Comparison(value: after, baseline: before) }
    }
}

/// Resident memory of this process, from `/proc/self/statm`; 0 where there is none.
private func residentMegabytes() -> Double {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
    return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
}
