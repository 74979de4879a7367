import Dispatch
import WaybillCore
import WaybillStore

/// Takes the secrets out of the bodies of a source's exchanges, one after the other on a queue of its own, so that no
/// exchange waits for it.
final class BodyKeeper: Sendable {
    let policy: BodyPolicy
    let redactor: Redactor
    /// nil: the app is not asked.
    let hook: RecordingHook?
    let writer: SourceWriter
    private let queue = DispatchQueue(label: "waybill.bodies", qos: .utility)
    private let generation = ProcessGeneration.current

    init(policy: BodyPolicy, redactor: Redactor, hook: RecordingHook?, writer: SourceWriter) {
        self.policy = policy
        self.redactor = redactor
        self.hook = hook
        self.writer = writer
    }

    /// Runs on the queue, in order of the calls; never in a forked child, which has none of the parent's threads.
    func perform(_ body: @escaping @Sendable () -> Void) {
        guard generation == ProcessGeneration.latest else { return }
        queue.async(execute: body)
    }

    /// Waits until everything that has come so far waits for the store.
    func settle() async {
        guard generation == ProcessGeneration.latest else { return }
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
