// swift-format-ignore-file
// The declarations in use from Swift Testing. Its macros are functions here (Scripts/apple/platforms.py), because the
// plugin knows only its own module.
public func expect(_ condition: Bool, _ comment: String? = nil) {}
public func expect<E: Error, R>(throws error: E.Type, _ body: () throws -> R) {}
public func expect<E: Error, R>(throws error: E.Type, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R) async {}
public func require<T>(_ value: T?, _ comment: String? = nil) throws -> T { fatalError() }
public func require(_ condition: Bool, _ comment: String? = nil) throws {}
