import Synchronization
import WaybillCore
import WaybillStore

/// What a manager and its sessions record into: the running source, replaced by a new one in a forked child.
package final class Recording: Sendable {
    /// nil: nothing is ever recorded.
    package let settings: RecordingSettings?
    package let counters = Counters()
    let changes = ChangeFeed()
    private let power: RecordingSwitch
    private let running: Locked<RunningSource?>
    private let switchProblem = Locked<WaybillError?>(nil)

    init(_ settings: RecordingSettings?) {
        self.settings = settings
        power = RecordingSwitch(isOn: settings?.recording == .on)
        running = Locked(
            settings.map { [power, counters, changes] in
                RunningSource(settings: $0, power: power, counters: counters, changes: changes)
            })
    }

    /// The source that records now; nil when recording is off.
    package var source: RunningSource? { power.isOn ? current : nil }

    /// The source to read and deliver by, also while recording is off; nil where reading would make a store that nothing was recorded into.
    package var readableSource: RunningSource? {
        guard let current, power.isOn || current.writer.hasStore else { return nil }
        return current
    }

    /// Whether it records; a manager that is disabled stays so.
    var mode: RecordingMode {
        get { power.isOn ? .on : .off }
        set {
            guard let settings, let source = current else { return }
            // Under the lock, so that the last one to turn the switch is also the last one to be remembered.
            running.withLock { _ in
                power.isOn = newValue == .on
                guard settings.mark != nil || settings.offErasesPending else { return }
                source.writer.perform { [switchProblem] store in
                    let problem = Self.follow(newValue, settings, store)
                    switchProblem.withLock { $0 = problem }
                }
            }
        }
    }

    /// What turning recording on or off stumbled over; nil when it did not.
    var problem: WaybillError? { switchProblem.withLock { $0 } }

    /// What turning recording on or off means for the disk; gives what went wrong.
    private static func follow(_ mode: RecordingMode, _ settings: RecordingSettings, _ store: Store?) -> WaybillError? {
        do throws(WaybillError) {
            try settings.mark?.set(isOn: mode == .on)
            return nil
        } catch {
            return error
        }
    }

    /// The source of this process, whether it records at the moment or not; nil where nothing is ever recorded.
    var current: RunningSource? {
        guard let settings else { return nil }
        return running.withLock { running in
            if let old = running, old.generation != ProcessGeneration.current {
                // The parent's locks, connection and threads are none of the child's: they are left alone for good.
                _ = Unmanaged.passRetained(old)
                running = RunningSource(settings: settings, power: power, counters: counters, changes: changes)
            }
            return running
        }
    }
}

/// Whether recording is on, for all sources of a manager; read by every call that records.
final class RecordingSwitch: Sendable {
    private let value: Atomic<Bool>

    init(isOn: Bool) { value = Atomic(isOn) }

    var isOn: Bool {
        get { value.load(ordering: .relaxed) }
        set { value.store(newValue, ordering: .relaxed) }
    }
}
