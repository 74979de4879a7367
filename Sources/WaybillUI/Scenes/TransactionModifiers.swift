#if canImport(SwiftUI)
public import SwiftUI
public import Waybill

#if canImport(BackgroundTasks) && !os(macOS)
import BackgroundTasks
#endif

extension EnvironmentValues {
    private struct Manager: EnvironmentKey { static let defaultValue = TransactionManager.disabled }
    private struct Open: EnvironmentKey { static let defaultValue = OpenTransactions() }

    /// The manager of the app. Default: ``Waybill/TransactionManager/disabled``, so previews record nothing.
    ///
    /// ```swift
    /// ContentView().environment(\.transactions, transactions)
    /// ```
    public var transactions: TransactionManager {
        get { self[Manager.self] }
        set { self[Manager.self] = newValue }
    }

    /// The transactions of the views around this one.
    public internal(set) var openTransactions: OpenTransactions {
        get { self[Open.self] }
        set { self[Open.self] = newValue }
    }
}

extension View {
    /// Begins a transaction when this view appears, and abandons it when the view disappears, unless it has finished.
    ///
    /// Views inside log and finish it. The manager is the one of the environment. A view that pushes another screen
    /// disappears; a sheet doesn't cover it.
    ///
    /// ```swift
    /// LoginView().transaction(Login.self)
    ///
    /// struct LoginView: View {
    ///     @Environment(\.openTransactions) private var open
    ///
    ///     var body: some View {
    ///         Button("Log in") { open[Login.self]?.log(.submitted) }
    ///     }
    /// }
    /// ```
    public func transaction<U: UseCase>(_ useCase: U.Type, attributes: Attributes = [:]) -> some View {
        modifier(TransactionModifier<U>(attributes: attributes))
    }
}

private struct TransactionModifier<U: UseCase>: ViewModifier {
    let attributes: Attributes
    @Environment(\.transactions) private var transactions
    @Environment(\.openTransactions) private var around
    @State private var screen = ScreenTransaction<U>()

    func body(content: Content) -> some View {
        screen.use(transactions, attributes)
        return
            content
            .environment(\.openTransactions, around.adding(screen))
            .onAppear { screen.begun() }
            .onDisappear { screen.end() }
    }
}

extension Scene {
    /// Delivers while the app is active, and once more when it becomes inactive or enters the background.
    ///
    /// ```swift
    /// WindowGroup { ContentView() }
    ///     .deliversTransactions(transactions)
    /// ```
    public func deliversTransactions(_ transactions: TransactionManager) -> some Scene {
        DeliveringScene(content: self, transactions: transactions) {}
    }

    #if os(iOS) || os(tvOS) || os(visionOS)
    /// Delivers also when the system wakes the app for a refresh, which it requests in the background.
    ///
    /// Add the identifier to BGTaskSchedulerPermittedIdentifiers and "fetch" to UIBackgroundModes in the `Info.plist`.
    public func deliversTransactions(_ transactions: TransactionManager, refresh identifier: String) -> some Scene {
        DeliveringScene(content: self, transactions: transactions) {
            // It fails in a simulator, and if the user has turned refreshes off.
            try? BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: identifier))
        }
        .backgroundTask(.appRefresh(identifier)) { [transactions] in await transactions.flush() }
    }
    #endif

    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    /// Delivers also when the system wakes the app for the answer of a background upload.
    ///
    /// The identifier is that of ``Waybill/URLSessionTransport/init(background:collector:token:folder:appGroup:timeout:clock:middleware:)``.
    public func deliversTransactions(_ transactions: TransactionManager, uploads identifier: String) -> some Scene {
        deliversTransactions(transactions)
            .backgroundTask(.urlSession(identifier)) { [transactions] in await transactions.flush() }
    }
    #endif
}

private struct DeliveringScene<Content: Scene>: Scene {
    let content: Content
    let transactions: TransactionManager
    let entersBackground: () -> Void
    @Environment(\.scenePhase) private var phase

    var body: some Scene {
        content.onChange(of: phase) { phase in
            transactions.deliver(whileActive: phase == .active)
            if phase == .background { entersBackground() }
        }
    }
}
#endif
