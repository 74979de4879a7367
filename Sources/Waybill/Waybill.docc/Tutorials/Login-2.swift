import Foundation
import Waybill

enum Login: String, UseCase {
    case requestSent, responseReceived
}

let transactions = TransactionManager(store: .default)
