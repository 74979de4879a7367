import WaybillCore

/// What a manager and its sessions record into: the running source, replaced by a new one in a forked child.
package final class Recording: Sendable {
    /// nil: recording is off.
    package let settings: RecordingSettings?
    package let counters = Counters()
    private let running: Locked<RunningSource?>

    init(_ settings: RecordingSettings?) {
        self.settings = settings
        running = Locked(settings.map { [counters] in RunningSource(settings: $0, counters: counters) })
    }

    /// The source that records now; nil when recording is off.
    package var source: RunningSource? {
        guard let settings else { return nil }
        return running.withLock { running in
            if let old = running, old.generation != ProcessGeneration.current {
                // The parent's locks, connection and threads are none of the child's: they are left alone for good.
                _ = Unmanaged.passRetained(old)
                running = RunningSource(settings: settings, counters: counters)
            }
            return running
        }
    }
}
