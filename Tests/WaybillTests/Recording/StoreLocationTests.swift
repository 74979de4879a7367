import Foundation
import Testing
import WaybillStore

@testable import Waybill

/// Accepts a place that the system lets an app use, and reports any other.
@Suite(.timeLimit(.minutes(5))) struct StoreLocationTests {
    private static let group = URL(
        filePath: "/private/var/mobile/Containers/Shared/AppGroup/0F4C1A7E-6D9C-4B0E-9A53-8D6F1C1F2B3A/Waybill")
    private static let own = URL(filePath: "/private/var/mobile/Containers/Data/Application/0F4C1A7E/Documents")

    /// Breaks when an app is not warned that the system may end it for the locks of its journals.
    @Test func journalsInAGroupsContainerAreReported() {
        let (place, problems) = StoreLocation.directory(Self.group).resolved()
        #expect(place == .folder(Self.group))
        #expect(problems.map(\.code) == [.setting])
        #expect(StoreLocation.directory(Self.group, journals: Self.own).resolved().1.isEmpty)
        #expect(StoreLocation.directory(Self.own).resolved().1.isEmpty)
    }

    /// Breaks when an app that may not use a group loses its data, or gets no report.
    @Test func aGroupThatIsNotTheAppsGivesTheDefaultPlaceAndIsReported() {
        let (place, problems) = StoreLocation.appGroup("group.example.nobody.has").resolved()
        #expect(place == StoreLocation.default.resolved().0)
        #expect(problems.map(\.code) == [.setting])
        #expect(StoreLocation.sharedFolder(of: "group.example.nobody.has") == nil)
    }
}
