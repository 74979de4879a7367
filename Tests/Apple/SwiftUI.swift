// swift-format-ignore-file
// The declarations in use from SwiftUI: views, the elements of a body, and the views of UIKit and AppKit in it. Written
// for type-checking; nothing here does anything, and types that are generic in another way than they look (a modifier's
// result) are `some View` here.
@_exported import Foundation
@_exported import Observation
#if os(macOS)
@_exported import AppKit
#else
@_exported import UIKit
#endif

// MARK: - Views and their bodies

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}
extension Never: View { public var body: Never { fatalError() } }
extension Optional: View where Wrapped: View { public var body: Never { fatalError() } }

public protocol PrimitiveView: View where Body == Never {}
extension PrimitiveView { public var body: Never { fatalError() } }

@resultBuilder public enum ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    @_disfavoredOverload public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)> { TupleView() }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> ConditionalContent<First, Second> { ConditionalContent() }
    public static func buildEither<First: View, Second: View>(second: Second) -> ConditionalContent<First, Second> { ConditionalContent() }
    public static func buildLimitedAvailability<Content: View>(_ content: Content) -> AnyView { AnyView(content) }
}
public struct EmptyView: PrimitiveView { public nonisolated init() {} }
public struct TupleView<Content>: PrimitiveView { nonisolated init() {} }
public struct ConditionalContent<First, Second>: PrimitiveView { nonisolated init() {} }
public struct AnyView: PrimitiveView { public nonisolated init<Content: View>(_ view: Content) {} }

@MainActor @preconcurrency public protocol ViewModifier {
    associatedtype Body: View
    typealias Content = ModifiedContent<Self>
    @ViewBuilder @MainActor @preconcurrency func body(content: Content) -> Body
}
public struct ModifiedContent<Modifier>: PrimitiveView {}

// MARK: - State

@propertyWrapper public struct State<Value> {
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    public init(initialValue: Value) { wrappedValue = initialValue }
    public var wrappedValue: Value { get { fatalError() } nonmutating set {} }
    public var projectedValue: Binding<Value> { fatalError() }
}
extension State: Sendable where Value: Sendable {}
@propertyWrapper @dynamicMemberLookup public struct Binding<Value> {
    public init(projectedValue: Binding<Value>) {}
    public var wrappedValue: Value { get { fatalError() } nonmutating set {} }
    public var projectedValue: Binding<Value> { self }
    public static func constant(_ value: Value) -> Binding<Value> { fatalError() }
    public subscript<Subject>(dynamicMember path: WritableKeyPath<Value, Subject>) -> Binding<Subject> { fatalError() }
}
extension Binding: @unchecked Sendable where Value: Sendable {}
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
@propertyWrapper @dynamicMemberLookup public struct Bindable<Value: AnyObject & Observable> {
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    public var wrappedValue: Value
    public var projectedValue: Bindable<Value> { self }
    public subscript<Subject>(dynamicMember path: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject> { fatalError() }
}
@propertyWrapper public struct Environment<Value> {
    public init(_ path: KeyPath<EnvironmentValues, Value>) {}
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
    public init(_ type: Value.Type) where Value: AnyObject & Observable {}
    public var wrappedValue: Value { fatalError() }
}
@propertyWrapper public struct FocusState<Value: Hashable> {
    public init() where Value == Bool {}
    public init<T: Hashable>() where Value == T? {}
    public var wrappedValue: Value { get { fatalError() } nonmutating set {} }
    public var projectedValue: Binding { fatalError() }
    public struct Binding {}
}
extension View {
    public nonisolated func focused<V: Hashable>(_ binding: FocusState<V?>.Binding, equals value: V) -> some View { self }
}
public struct SubmitLabel: Sendable { public static let next = Self(), go = Self(), done = Self() }
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
public enum AccessibilityNotification {
    public struct Announcement { public init(_ announcement: String) {}; public func post() {} }
}
@propertyWrapper public struct AppStorage<Value> {
    public init(wrappedValue: Value, _ key: String) where Value == Bool {}
    public init(wrappedValue: Value, _ key: String) where Value == String {}
    public init(_ key: String) where Value == Bool? {}
    public var wrappedValue: Value { get { fatalError() } nonmutating set {} }
    public var projectedValue: SwiftUI.Binding<Value> { fatalError() }
}
public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}
public struct EnvironmentValues {
    public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value { get { fatalError() } set {} }
    public var scenePhase: ScenePhase { .active }
    public var dismiss: DismissAction { fatalError() }
    #if os(macOS) || os(iOS) || os(visionOS)
    public var openWindow: OpenWindowAction { fatalError() }
    #endif
}
@MainActor public struct DismissAction { public func callAsFunction() {} }
@MainActor public struct OpenWindowAction { public func callAsFunction(id: String) {} }
extension View {
    public nonisolated func environment<V>(_ path: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some View { self }
}
public enum ScenePhase: Comparable, Sendable { case background, inactive, active }

// MARK: - Apps

@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
    @MainActor @preconcurrency init()
}
extension App { @MainActor public static func main() {} }
@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}
extension Never: Scene {}
public protocol PrimitiveScene: Scene where Body == Never {}
extension PrimitiveScene { public var body: Never { fatalError() } }
@resultBuilder public enum SceneBuilder {
    public static func buildExpression<Content: Scene>(_ content: Content) -> Content { content }
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
    public static func buildBlock<C0: Scene, C1: Scene>(_ c0: C0, _ c1: C1) -> some Scene { c0 }
}
#if os(macOS)
public struct Window<Content: View>: PrimitiveScene { public nonisolated init(_ title: LocalizedStringKey, id: String, @ViewBuilder content: () -> Content) {} }
@MainActor @preconcurrency public protocol Commands {}
@resultBuilder public enum CommandsBuilder {
    public static func buildBlock<Content: Commands>(_ content: Content) -> Content { content }
}
public struct CommandGroupPlacement: Sendable { public static let help = CommandGroupPlacement() }
public struct CommandGroup<Content: View>: Commands { public nonisolated init(after group: CommandGroupPlacement, @ViewBuilder addition: () -> Content) {} }
extension Scene {
    public nonisolated func commands<Content: Commands>(@CommandsBuilder content: () -> Content) -> some Scene { self }
}
#endif
#if os(macOS) || os(iOS) || os(visionOS)
public struct EventModifiers: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let command = Self(rawValue: 16), option = Self(rawValue: 8), shift = Self(rawValue: 2)
}
public struct KeyEquivalent: ExpressibleByExtendedGraphemeClusterLiteral, Sendable { public init(extendedGraphemeClusterLiteral: Character) {} }
extension View {
    public nonisolated func keyboardShortcut(_ key: KeyEquivalent, modifiers: EventModifiers = .command) -> some View { self }
}
#endif
extension Scene {
    public nonisolated func onChange<V: Equatable>(of value: V, perform action: @escaping (V) -> Void) -> some Scene { self }
}
public struct WindowGroup<Content: View>: PrimitiveScene { public nonisolated init(@ViewBuilder content: () -> Content) {} }
extension Scene {
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
    public nonisolated func onChange<V: Equatable>(of value: V, initial: Bool = false, _ action: @escaping (V, V) -> Void) -> some Scene { self }
}

public struct BackgroundTask<Request, Response>: Sendable {
    public static func appRefresh(_ identifier: String) -> BackgroundTask<Void, Void> where Request == Void, Response == Void { .init() }
    public static func urlSession(_ identifier: String) -> BackgroundTask<Void, Void> where Request == Void, Response == Void { .init() }
}
extension Scene {
    public nonisolated func backgroundTask<D: Sendable, R: Sendable>(_ task: BackgroundTask<D, R>, action: @escaping @Sendable (D) async -> R) -> some Scene { self }
    public nonisolated func backgroundTask(_ task: BackgroundTask<Void, Void>, action: @escaping @Sendable () async -> Void) -> some Scene { self }
}

// MARK: - Displayed content

public struct LocalizedStringKey: ExpressibleByStringInterpolation, Equatable { public init(stringLiteral value: String) {} }
public struct Text: PrimitiveView {
    public nonisolated init(_ key: LocalizedStringKey) {}
    @_disfavoredOverload public nonisolated init<S: StringProtocol>(_ content: S) {}
    public nonisolated init(verbatim content: String) {}
}
public struct Image: PrimitiveView { public nonisolated init(systemName: String) {} }
public struct Label<Title: View, Icon: View>: PrimitiveView {
    public nonisolated init(_ title: LocalizedStringKey, systemImage: String) where Title == Text, Icon == Image {}
    @_disfavoredOverload public nonisolated init<S: StringProtocol>(_ title: S, systemImage: String) where Title == Text, Icon == Image {}
}
public struct ButtonRole: Equatable, Sendable {
    public static let destructive = ButtonRole()
    public static let cancel = ButtonRole()
}
public struct Button<Label: View>: PrimitiveView {
    public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {}
    public init(_ title: LocalizedStringKey, action: @escaping @MainActor () -> Void) where Label == Text {}
    public init(_ title: LocalizedStringKey, role: ButtonRole?, action: @escaping @MainActor () -> Void) where Label == Text {}
}
public struct Toggle<Label: View>: PrimitiveView {
    public nonisolated init(_ title: LocalizedStringKey, isOn: Binding<Bool>) where Label == Text {}
}
public struct TextField<Label: View>: PrimitiveView {
    public nonisolated init(_ title: LocalizedStringKey, text: Binding<String>) where Label == Text {}
}
public struct SecureField<Label: View>: PrimitiveView {
    public nonisolated init(_ title: LocalizedStringKey, text: Binding<String>) where Label == Text {}
}
public struct ProgressView<Label: View>: PrimitiveView {
    public nonisolated init() where Label == EmptyView {}
    public nonisolated init(_ title: LocalizedStringKey) where Label == Text {}
}
public struct LabeledContent<Label: View, Content: View>: PrimitiveView {
    public nonisolated init<S: StringProtocol>(_ title: LocalizedStringKey, value: S) where Label == Text, Content == Text {}
    public nonisolated init(_ title: LocalizedStringKey, @ViewBuilder content: () -> Content) where Label == Text {}
}
public struct ScrollView<Content: View>: PrimitiveView { public nonisolated init(@ViewBuilder content: () -> Content) {} }
public struct ViewThatFits<Content: View>: PrimitiveView { public nonisolated init(@ViewBuilder content: () -> Content) {} }
public struct PresentationDetent: Hashable, Sendable { public static let medium = Self(), large = Self() }
public struct HorizontalAlignment: Sendable { public static let leading = Self(), center = Self(), trailing = Self() }
public struct VerticalAlignment: Sendable { public static let top = Self(), center = Self(), firstTextBaseline = Self() }
public struct Alignment: Sendable { public static let center = Self(), bottomTrailing = Self(), topTrailing = Self() }
public struct VStack<Content: View>: PrimitiveView {
    public nonisolated init(alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
}
public struct HStack<Content: View>: PrimitiveView {
    public nonisolated init(alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
}
public struct Group<Content: View>: PrimitiveView { public nonisolated init(@ViewBuilder content: () -> Content) {} }
public struct Form<Content: View>: PrimitiveView { public nonisolated init(@ViewBuilder content: () -> Content) {} }
public struct List<Content: View>: PrimitiveView { public init(@ViewBuilder content: () -> Content) {} }
public struct NavigationStack<Root: View>: PrimitiveView { public init(@ViewBuilder root: () -> Root) {} }
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: PrimitiveView {
    public nonisolated init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) where Data.Element: Identifiable, ID == Data.Element.ID {}
    public nonisolated init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
}
public struct Section<Parent: View, Content: View, Footer: View>: PrimitiveView {
    public nonisolated init(@ViewBuilder content: () -> Content) where Parent == EmptyView, Footer == EmptyView {}
    public nonisolated init(_ title: LocalizedStringKey, @ViewBuilder content: () -> Content) where Parent == Text, Footer == EmptyView {}
    public nonisolated init(@ViewBuilder content: () -> Content, @ViewBuilder footer: () -> Footer) where Parent == EmptyView {}
}

// MARK: - Modifiers

public struct Edge { public struct Set: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let bottom = Set(rawValue: 4), all = Set(rawValue: 15)
} }
public struct SafeAreaRegions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let all = SafeAreaRegions(rawValue: 3)
}
public protocol ShapeStyle: Sendable {}
public struct Color: ShapeStyle, PrimitiveView { public static let red = Color(), green = Color(), secondary = Color() }
extension ShapeStyle where Self == Color { public static var red: Color { Color.red } }
public struct HierarchicalShapeStyle: ShapeStyle {}
extension ShapeStyle where Self == HierarchicalShapeStyle { public static var secondary: HierarchicalShapeStyle { HierarchicalShapeStyle() } }
public struct Material: ShapeStyle {}
extension ShapeStyle where Self == Material { public static var regularMaterial: Material { Material() } }
public protocol Shape: Sendable {}
public struct Capsule: Shape {}
extension Shape where Self == Capsule { public static var capsule: Capsule { Capsule() } }
public struct Font: Sendable { public static let footnote = Font(), headline = Font(), title = Font(), caption = Font() }
public protocol PrimitiveButtonStyle {}
public struct BorderedProminentButtonStyle: PrimitiveButtonStyle {}
extension PrimitiveButtonStyle where Self == BorderedProminentButtonStyle { public static var borderedProminent: BorderedProminentButtonStyle { BorderedProminentButtonStyle() } }
extension View {
    public nonisolated func modifier<T>(_ modifier: T) -> some View { self }
    public nonisolated func id<ID: Hashable>(_ id: ID) -> some View { self }
    public nonisolated func ignoresSafeArea(_ regions: SafeAreaRegions = .all, edges: Edge.Set = .all) -> some View { self }
    public nonisolated func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View { self }
    public nonisolated func frame(
        minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil, idealHeight: CGFloat? = nil,
        maxHeight: CGFloat? = nil, alignment: Alignment = .center
    ) -> some View { self }
    public nonisolated func background<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> some View { self }
    public nonisolated func background<S: ShapeStyle, T: Shape>(_ style: S, in shape: T) -> some View { self }
    public nonisolated func overlay<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> some View { self }
    public nonisolated func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { self }
    public nonisolated func font(_ font: Font?) -> some View { self }
    public nonisolated func buttonStyle<S: PrimitiveButtonStyle>(_ style: S) -> some View { self }
    public nonisolated func disabled(_ isDisabled: Bool) -> some View { self }
    public nonisolated func navigationTitle(_ title: LocalizedStringKey) -> some View { self }
    @_disfavoredOverload public nonisolated func navigationTitle<S: StringProtocol>(_ title: S) -> some View { self }
    public nonisolated func navigationDestination<V: View>(isPresented: Binding<Bool>, @ViewBuilder destination: () -> V) -> some View { self }
    public nonisolated func toolbar<Content: ToolbarContent>(@ToolbarContentBuilder content: () -> Content) -> some View { self }
    public nonisolated func sheet<Content: View>(
        isPresented: Binding<Bool>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping () -> Content
    ) -> some View { self }
    public nonisolated func onAppear(perform action: (() -> Void)? = nil) -> some View { self }
    public nonisolated func onDisappear(perform action: (() -> Void)? = nil) -> some View { self }
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
    public nonisolated func onChange<V: Equatable>(of value: V, initial: Bool = false, _ action: @escaping (V, V) -> Void) -> some View { self }
    public nonisolated func onSubmit(_ action: @escaping @MainActor () -> Void) -> some View { self }
    public nonisolated func submitLabel(_ label: SubmitLabel) -> some View { self }
    public nonisolated func presentationDetents(_ detents: Set<PresentationDetent>) -> some View { self }
    public nonisolated func accessibilityLabel(_ label: Text) -> some View { self }
    public nonisolated func accessibilityHint(_ hint: LocalizedStringKey) -> some View { self }
    public nonisolated func task(priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void) -> some View { self }
    public nonisolated func accessibilityLabel(_ label: LocalizedStringKey) -> some View { self }
    public nonisolated func interactiveDismissDisabled(_ isDisabled: Bool = true) -> some View { self }
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
    public nonisolated func environment<T: AnyObject & Observable>(_ object: T?) -> some View { self }
    public nonisolated func monospaced(_ isActive: Bool = true) -> some View { self }
}
#if os(iOS) || os(visionOS) || os(tvOS)
public struct UITextContentType: Hashable, Sendable { public static let username = Self(), password = Self() }
public struct TextInputAutocapitalization: Sendable { public static var never: TextInputAutocapitalization { Self() } }
extension View {
    public nonisolated func textContentType(_ type: UITextContentType?) -> some View { self }
    public nonisolated func textInputAutocapitalization(_ autocapitalization: TextInputAutocapitalization?) -> some View { self }
    public nonisolated func autocorrectionDisabled(_ disable: Bool = true) -> some View { self }
}
#endif
#if os(iOS) || os(visionOS) || os(watchOS)
public struct NavigationBarItem: Sendable { public enum TitleDisplayMode: Sendable { case automatic, inline, large } }
extension View {
    public nonisolated func navigationBarTitleDisplayMode(_ mode: NavigationBarItem.TitleDisplayMode) -> some View { self }
}
#endif

@MainActor @preconcurrency public protocol ToolbarContent {}
@resultBuilder public enum ToolbarContentBuilder {
    public static func buildBlock<Content: ToolbarContent>(_ content: Content) -> some ToolbarContent { content }
    public static func buildBlock<C0: ToolbarContent, C1: ToolbarContent>(_ c0: C0, _ c1: C1) -> some ToolbarContent { c0 }
}
public struct ToolbarItemPlacement: Sendable {
    public static let automatic = Self(), confirmationAction = Self(), cancellationAction = Self(), primaryAction = Self()
}
public struct ToolbarItem<Content: View>: ToolbarContent {
    public nonisolated init(placement: ToolbarItemPlacement = .automatic, @ViewBuilder content: () -> Content) {}
}

// MARK: - Views of UIKit and AppKit

#if os(macOS)
@MainActor @preconcurrency public protocol NSViewRepresentable: View where Body == Never {
    associatedtype NSViewType: NSView
    associatedtype Coordinator = Void
    typealias Context = NSViewRepresentableContext<Self>
    func makeNSView(context: Context) -> NSViewType
    func updateNSView(_ view: NSViewType, context: Context)
    static func dismantleNSView(_ view: NSViewType, coordinator: Coordinator)
    func makeCoordinator() -> Coordinator
}
extension NSViewRepresentable {
    public var body: Never { fatalError() }
    public static func dismantleNSView(_ view: NSViewType, coordinator: Coordinator) {}
}
extension NSViewRepresentable where Coordinator == Void { public func makeCoordinator() {} }
@MainActor @preconcurrency public struct NSViewRepresentableContext<Representable: NSViewRepresentable> {
    public let coordinator: Representable.Coordinator
}
@MainActor open class NSHostingController<Content: View>: NSViewController {
    public init(rootView: Content) { super.init(nibName: nil, bundle: nil) }
    public required init?(coder: NSCoder) { nil }
}
#elseif !os(watchOS)
@MainActor @preconcurrency public protocol UIViewRepresentable: View where Body == Never {
    associatedtype UIViewType: UIView
    associatedtype Coordinator = Void
    typealias Context = UIViewRepresentableContext<Self>
    func makeUIView(context: Context) -> UIViewType
    func updateUIView(_ view: UIViewType, context: Context)
    static func dismantleUIView(_ view: UIViewType, coordinator: Coordinator)
    func makeCoordinator() -> Coordinator
}
extension UIViewRepresentable {
    public var body: Never { fatalError() }
    public static func dismantleUIView(_ view: UIViewType, coordinator: Coordinator) {}
}
extension UIViewRepresentable where Coordinator == Void { public func makeCoordinator() {} }
@MainActor @preconcurrency public struct UIViewRepresentableContext<Representable: UIViewRepresentable> {
    public let coordinator: Representable.Coordinator
}
@MainActor open class UIHostingController<Content: View>: UIViewController {
    public init(rootView: Content) { super.init(nibName: nil, bundle: nil) }
    public required init?(coder: NSCoder) { nil }
}
#endif
