#if Collector
import Foundation
import TestSupport

/// The disk fails for a while, until the cause is gone.
extension FaultCase {
    /// A small file system fills up while facts are recorded. Then it grows, under the running process or after its
    /// death.
    static let full = FaultCase(name: "full disk") { setting in
        try repeated(setting.share(0.06)) { run in
            let directory = try TemporaryDirectory()
            // Room for the journal and little else.
            let mount = try Mount(size: "6m", at: directory.url.appending(path: "small", directoryHint: .isDirectory))
            let harness = try Harness(client: mount.folder)
            let worker = try harness.worker("--pause", "300", "--padding", "200")
            try worker.wait(untilIs: "ill")
            if run % 2 == 0 {
                usleep(300_000)
                harness.kill(worker)
                try mount.remount("size=256m")
            } else {
                try mount.remount("size=256m")
                try worker.wait(untilIs: "well")
                try worker.wait(forMore: 100)
                try harness.finish(worker)
            }
            return try harness.count()
        }
    }

    #if os(Linux)
    /// The file system is shut down under a process that records. Its mapped files must not end it by SIGBUS.
    static let shutDown = FaultCase(name: "shut down") { _ in
        var counts = FaultCounts()
        for (type, isOverlaid) in [("ext4", false), ("xfs", false), ("ext4", true)] {
            let directory = try TemporaryDirectory()
            let mount = try Mount(
                image: type, at: directory.url.appending(path: "disk", directoryHint: .isDirectory))
            let overlay =
                try isOverlaid ? Mount(over: mount.folder.appending(path: "upper"), at: directory.file("over")) : nil
            let harness = try Harness(client: overlay?.folder ?? mount.folder)
            let worker = try harness.worker("--pause", "300", deliversTo: false)
            try worker.wait(forMore: 500)
            try mount.shutDown()
            try worker.wait(untilIs: "ill")
            // Gives the kernel time to write pages to the disk, which fails.
            sync()
            usleep(500_000)
            if !worker.isRunning { counts.problems.append("On \(type) the process has ended.") }
            worker.kill()
            counts.runs += 1
        }
        return counts
    }

    /// A process is killed in a container, whose own files are in an overlay.
    static let overlay = FaultCase(name: "kill in an overlay") { setting in
        try repeated(setting.share(0.06)) { _ in
            let directory = try TemporaryDirectory()
            let mount = try Mount(over: directory.file("upper"), at: directory.file("over"))
            let harness = try Harness(client: mount.folder)
            let worker = try harness.worker("--pause", "300")
            try worker.wait(forMore: 200)
            harness.kill(worker)
            return try harness.count()
        }
    }
    #endif

    /// Another program holds the store's lock for longer than a writer waits.
    static let busy = FaultCase(name: "busy") { setting in
        try repeated(setting.share(0.02)) { _ in
            let harness = try Harness()
            let worker = try harness.worker("--pause", "100000")
            try worker.wait(forMore: 100)
            try WriterLock(in: harness.client).whileHeld {
                try worker.wait(untilIs: "ill")
                try worker.wait(forMore: 100)
            }
            try worker.wait(untilIs: "well")
            try harness.finish(worker)
            return try harness.count()
        }
    }

    /// Writes to the store fail with SQLITE_IOERR, because the size of files is limited.
    static let failing = FaultCase(name: "write errors") { setting in
        try repeated(setting.share(0.04)) { run in
            let harness = try Harness()
            // Every other run has a limit of about a megabyte: then the journal of two megabytes does not fit either.
            let limit = run % 2 == 0 ? 3_000 : 1_000
            let worker = try harness.worker(
                "--pause", "300", "--padding", "200",
                by: ["/bin/bash", "-c", "trap '' XFSZ; ulimit -S -f \(limit); exec \"$0\" \"$@\""])
            try worker.wait(untilIs: "ill")
            try command("prlimit", "--pid", "\(worker.processID)", "--fsize=unlimited")
            try worker.wait(untilIs: "well")
            try worker.wait(forMore: 100)
            if run % 4 < 2 { try harness.finish(worker) } else { harness.kill(worker) }
            return try harness.count()
        }
    }

    /// The file system is read-only when a process starts, and becomes writable again later.
    static let readOnly = FaultCase(name: "read-only") { setting in
        try repeated(setting.share(0.06)) { run in
            let directory = try TemporaryDirectory()
            let mount = try Mount(size: "64m", at: directory.url.appending(path: "disk", directoryHint: .isDirectory))
            let harness = try Harness(client: mount.folder)
            try leaveFacts(in: harness)
            try mount.remount("ro")
            let worker = try harness.worker()
            try worker.wait(untilIs: "ill")
            if run % 2 == 0 { harness.kill(worker) }
            try mount.remount("rw")
            if run % 2 == 1 {
                try worker.wait(untilIs: "well")
                try worker.wait(forMore: 100)
                try harness.finish(worker)
            }
            return try harness.count()
        }
    }

    /// The permissions of the folder and its files are revoked while one process runs and before another starts, and
    /// then restored.
    static let permissions = FaultCase(name: "permissions") { setting in
        let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        guard getuid() == 0 else { throw Skipped(reason: "only root can start a process as somebody else") }
        guard
            try command(
                nobody[0], nobody[1], nobody[2], nobody[3], ChildProcess.folder.appending(path: "Faults").path(),
                "worker", "--folder",
                "/dev/null", "--first", "1", "--facts", "0"
            ).status == 0
        else { throw Skipped(reason: "another user cannot run what was built in \(ChildProcess.folder.path())") }
        return try repeated(setting.share(0.04)) { _ in
            let directory = try TemporaryDirectory()
            let folder = directory.url.appending(path: "theirs", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            chown(folder.path(), 65_534, 65_534)
            let harness = try Harness(client: folder)
            let first = try harness.worker(by: ["/usr/bin/env"] + nobody)
            try first.wait(untilIs: "well")  // the store is open
            try first.wait(forMore: 100)
            try change(folder, files: 0, folder: 0)
            try first.wait(forMore: 100)
            harness.kill(first)
            let second = try harness.worker(by: ["/usr/bin/env"] + nobody)
            try second.wait(untilIs: "ill")
            try change(folder, files: 0o600, folder: 0o700)
            try second.wait(untilIs: "well")
            try second.wait(forMore: 100)
            harness.kill(second)
            return try harness.count()
        }
    }

    /// The store's files are deleted under the process. Facts that were only in them are booked as damaged.
    static let deleted = FaultCase(name: "deleted") { setting in
        try repeated(setting.share(0.06)) { run in
            let harness = try Harness()
            let worker = run % 2 == 0 ? try harness.worker("--delivers") : try harness.worker()
            try worker.wait(forMore: 200)
            usleep(400_000)  // longer than a batch waits: the store has some of them
            for suffix in run % 3 == 0 ? ["", "-wal", "-shm", "-lock"] : [""] {
                try FileManager.default.removeItem(at: harness.client.appending(path: "waybill.sqlite" + suffix))
            }
            try worker.wait(forMore: 1_000)
            usleep(600_000)  // longer than a batch waits: later facts are in the new store
            try worker.wait(untilIs: "well")
            if run % 2 == 0 { try harness.finish(worker) } else { harness.kill(worker) }
            return try harness.count(mayDrop: true)
        }
    }

    /// Leaves journaled facts of a process that died.
    private static func leaveFacts(in harness: Harness) throws {
        let worker = try harness.worker()
        try worker.wait(forMore: 100)
        harness.kill(worker)
    }

    private static func change(_ folder: URL, files: mode_t, folder mode: mode_t) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path()) {
            chmod(folder.appending(path: name).path(), files)
        }
        chmod(folder.path(), mode)
    }

    private static func repeated(_ runs: Int, _ body: (Int) throws -> FaultCounts) rethrows -> FaultCounts {
        var counts = FaultCounts()
        for run in 0..<runs { counts = counts + (try body(run)) }
        return counts
    }
}
#endif
