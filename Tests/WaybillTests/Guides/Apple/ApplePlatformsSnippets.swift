#if os(iOS)
import BackgroundTasks
import Foundation
import SwiftUI
import UIKit
import Waybill
import WaybillQueries
import WaybillUI

// Code from the guides for Apple's platforms that runs only on a phone. `make apple` compiles it in Swift 6 mode.

private let collectorURL = URL(filePath: "/nowhere")

@available(iOS 17, *)
struct ShopApp: App {
    private let transactions: TransactionManager

    init() {
        let transport = URLSessionTransport(background: "com.example.shop.deliver", collector: collectorURL)
        transactions = TransactionManager(delivery: .transport(transport)) { options in
            options.mirrorsEvents = true
            options.marksDeviceState = true
            options.joinsCrashReports = true
        }
    }

    var body: some Scene {
        WindowGroup {
            ShopView()
                .transaction(Login.self, attributes: ["variant": "B"])
                .environment(\.transactions, transactions)
        }
        .deliversTransactions(transactions, refresh: "deliver")
        .backgroundTask(.urlSession("com.example.shop.deliver")) { [transactions] in
            await transactions.flush()
        }
    }
}

@available(iOS 17, *)
struct OtherShopApp: App {
    private let transactions = TransactionManager()

    var body: some Scene {
        WindowGroup { ShopView() }.deliversTransactions(transactions, uploads: "com.example.shop.deliver")
    }
}

/// A session that trusts only one certificate.
private func pinnedSession(
    of transactions: TransactionManager, trusts: @escaping @Sendable (URLProtectionSpace) -> Bool
) -> CapturedSession {
    transactions.session(configuration: .default) { challenge in
        trusts(challenge.protectionSpace) ? (.performDefaultHandling, nil) : (.cancelAuthenticationChallenge, nil)
    }
}

@available(iOS 17, *)
struct ShopView: View {
    @Environment(\.transactions) private var transactions
    @Environment(\.openTransactions) private var open
    @State private var isInspecting = false

    var body: some View {
        Button("\(transactions.live.counts.failed) failed") {
            open[Login.self]?.log(.requestSent)
            isInspecting = true
        }
        .waybillInspector(transactions, isPresented: $isInspecting)
        .waybillInspector(transactions, opensOnShake: isTestBuild)
    }
}

/// A TestFlight build has the sandbox receipt, whatever its configuration is called.
private let isTestBuild = Bundle.main.appStoreReceiptURL?.lastPathComponent == "sandboxReceipt"

final class ShopDelegate: NSObject, UIApplicationDelegate {
    private let transactions = TransactionManager()

    func registerRefresh() {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: "deliver", using: nil) { [transactions] task in
            // The system lets any thread complete a task, though the class isn't Sendable.
            nonisolated(unsafe) let task = task
            task.expirationHandler = transactions.flush { task.setTaskCompleted(success: $0.error == nil) }
        }
    }

    func requestRefresh() {
        try? BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: "deliver"))
    }

    func application(_ application: UIApplication, handleEventsForBackgroundURLSession identifier: String) async {
        await transactions.flush()
    }
}
#endif
