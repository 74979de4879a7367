// swift-format-ignore-file
// The declarations in use from Darwin's Foundation beyond swift-foundation, which both systems share: the classes of
// Objective-C, including members that are optional, inherited, or named differently than in swift-corelibs-foundation.
// Written for type-checking; nothing here does anything.
@_exported import Darwin
@_exported import Dispatch
@_exported import FoundationEssentials
@_exported import FoundationInternationalization
@_exported import ObjectiveC

public typealias NSObject = ObjectiveC.NSObject
public typealias NSObjectProtocol = ObjectiveC.NSObjectProtocol

extension NSObject {
    public func perform(_ selector: Selector, on thread: Thread, with argument: Any?, waitUntilDone: Bool) {}
}

public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let new = NSKeyValueObservingOptions(rawValue: 1)
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)
}
public struct NSKeyValueObservedChange<Value> { public let newValue: Value? }
open class NSKeyValueObservation: NSObject { open func invalidate() {} }
public protocol _KeyValueCodingAndObserving {}
extension NSObject: _KeyValueCodingAndObserving {}
extension _KeyValueCodingAndObserving {
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation { fatalError() }
}

// MARK: - Values that are objects in Objective-C

open class NSString: NSObject, @unchecked Sendable {}
open class NSArray: NSObject, @unchecked Sendable {}
open class NSDictionary: NSObject, @unchecked Sendable {}
open class NSData: NSObject, @unchecked Sendable {}
open class NSURL: NSObject, @unchecked Sendable {}
open class NSDate: NSObject, @unchecked Sendable {}
open class NSNumber: NSObject, @unchecked Sendable { open var intValue: Int { 0 }; open var int32Value: Int32 { 0 } }
open class NSURLRequest: NSObject, @unchecked Sendable {}
open class NSMutableURLRequest: NSURLRequest, @unchecked Sendable {}

/// A Swift value that converts to an object and back.
public protocol Bridged: _ObjectiveCBridgeable {}
extension Bridged {
    public func _bridgeToObjectiveC() -> _ObjectiveCType { fatalError() }
    public static func _forceBridgeFromObjectiveC(_ source: _ObjectiveCType, result: inout Self?) {}
    public static func _conditionallyBridgeFromObjectiveC(_ source: _ObjectiveCType, result: inout Self?) -> Bool { false }
    public static func _unconditionallyBridgeFromObjectiveC(_ source: _ObjectiveCType?) -> Self { fatalError() }
}
extension String: Bridged { public typealias _ObjectiveCType = NSString }
extension Array: Bridged, @retroactive _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSArray }
extension Dictionary: Bridged, @retroactive _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSDictionary }
extension Data: Bridged { public typealias _ObjectiveCType = NSData }
extension URL: Bridged { public typealias _ObjectiveCType = NSURL }
extension Date: Bridged { public typealias _ObjectiveCType = NSDate }
extension Int: Bridged { public typealias _ObjectiveCType = NSNumber }
extension Bool: Bridged { public typealias _ObjectiveCType = NSNumber }
extension URLRequest: Bridged { public typealias _ObjectiveCType = NSURLRequest }

// MARK: - Errors

open class NSError: NSObject, Error, @unchecked Sendable {
    public init(domain: String, code: Int, userInfo: [String: Any]? = nil) {}
    open var domain: String { "" }
    open var code: Int { 0 }
    open var userInfo: [String: Any] { [:] }
    open var localizedDescription: String { "" }
    open var localizedFailureReason: String? { nil }
    open var underlyingErrors: [any Error] { [] }
}
public protocol LocalizedError: Error {
    var errorDescription: String? { get }
    var failureReason: String? { get }
    var recoverySuggestion: String? { get }
    var helpAnchor: String? { get }
}
extension LocalizedError {
    public var errorDescription: String? { nil }
    public var failureReason: String? { nil }
    public var recoverySuggestion: String? { nil }
    public var helpAnchor: String? { nil }
}
public protocol CustomNSError: Error {
    static var errorDomain: String { get }
    var errorCode: Int { get }
    var errorUserInfo: [String: Any] { get }
}
extension CustomNSError {
    public static var errorDomain: String { "" }
    public var errorCode: Int { 0 }
    public var errorUserInfo: [String: Any] { [:] }
}
public let NSLocalizedDescriptionKey = "NSLocalizedDescription"
public let NSUnderlyingErrorKey = "NSUnderlyingError"
public let NSURLErrorDomain = "NSURLErrorDomain"
public let NSURLErrorFailingURLErrorKey = "NSErrorFailingURLKey"
extension Error { public var localizedDescription: String { "" } }

public struct URLError: CustomNSError, Hashable, Sendable {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static let unknown = Code(rawValue: -1)
        public static let cancelled = Code(rawValue: -999)
        public static let badURL = Code(rawValue: -1000)
        public static let timedOut = Code(rawValue: -1001)
        public static let unsupportedURL = Code(rawValue: -1002)
        public static let cannotFindHost = Code(rawValue: -1003)
        public static let cannotConnectToHost = Code(rawValue: -1004)
        public static let networkConnectionLost = Code(rawValue: -1005)
        public static let dnsLookupFailed = Code(rawValue: -1006)
        public static let httpTooManyRedirects = Code(rawValue: -1007)
        public static let resourceUnavailable = Code(rawValue: -1008)
        public static let notConnectedToInternet = Code(rawValue: -1009)
        public static let redirectToNonExistentLocation = Code(rawValue: -1010)
        public static let badServerResponse = Code(rawValue: -1011)
        public static let userCancelledAuthentication = Code(rawValue: -1012)
        public static let userAuthenticationRequired = Code(rawValue: -1013)
        public static let zeroByteResource = Code(rawValue: -1014)
        public static let cannotDecodeRawData = Code(rawValue: -1015)
        public static let cannotDecodeContentData = Code(rawValue: -1016)
        public static let cannotParseResponse = Code(rawValue: -1017)
        public static let internationalRoamingOff = Code(rawValue: -1018)
        public static let callIsActive = Code(rawValue: -1019)
        public static let dataNotAllowed = Code(rawValue: -1020)
        public static let requestBodyStreamExhausted = Code(rawValue: -1021)
        public static let appTransportSecurityRequiresSecureConnection = Code(rawValue: -1022)
        public static let fileDoesNotExist = Code(rawValue: -1100)
        public static let fileIsDirectory = Code(rawValue: -1101)
        public static let noPermissionsToReadFile = Code(rawValue: -1102)
        public static let dataLengthExceedsMaximum = Code(rawValue: -1103)
        public static let secureConnectionFailed = Code(rawValue: -1200)
        public static let serverCertificateHasBadDate = Code(rawValue: -1201)
        public static let serverCertificateUntrusted = Code(rawValue: -1202)
        public static let serverCertificateHasUnknownRoot = Code(rawValue: -1203)
        public static let serverCertificateNotYetValid = Code(rawValue: -1204)
        public static let clientCertificateRejected = Code(rawValue: -1205)
        public static let clientCertificateRequired = Code(rawValue: -1206)
        public static let cannotLoadFromNetwork = Code(rawValue: -2000)
        public static let cannotCreateFile = Code(rawValue: -3000)
        public static let cannotOpenFile = Code(rawValue: -3001)
        public static let cannotCloseFile = Code(rawValue: -3002)
        public static let cannotWriteToFile = Code(rawValue: -3003)
        public static let cannotRemoveFile = Code(rawValue: -3004)
        public static let cannotMoveFile = Code(rawValue: -3005)
        public static let downloadDecodingFailedMidStream = Code(rawValue: -3006)
        public static let downloadDecodingFailedToComplete = Code(rawValue: -3007)
        public static let backgroundSessionRequiresSharedContainer = Code(rawValue: -995)
        public static let backgroundSessionInUseByAnotherProcess = Code(rawValue: -996)
        public static let backgroundSessionWasDisconnected = Code(rawValue: -997)
    }
    public init(_ code: Code, userInfo: [String: Any] = [:]) { self.code = code }
    public let code: Code
    public var errorCode: Int { code.rawValue }
    public var userInfo: [String: Any] { [:] }
    public var failingURL: URL? { nil }
}

/// Like in swift-foundation, whose code type is Glibc's here.
public struct POSIXError: Error, Hashable, Sendable {
    public typealias Code = POSIXErrorCode
    public init(_ code: Code, userInfo: [String: Any] = [:]) { self.code = code }
    public let code: Code
}

// MARK: - Requests and responses

public struct URLRequest: Hashable, Sendable {
    public typealias CachePolicy = NSURLRequest.CachePolicy
    public init(url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60) {}
    public var url: URL?
    public var cachePolicy: CachePolicy = .useProtocolCachePolicy
    public var timeoutInterval: TimeInterval = 60
    public var httpMethod: String?
    public var allHTTPHeaderFields: [String: String]?
    public var httpBody: Data?
    public var httpBodyStream: InputStream? { get { nil } set {} }
    public var httpShouldHandleCookies = true
    public var allowsCellularAccess = true
    public func value(forHTTPHeaderField field: String) -> String? { nil }
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {}
}
extension NSURLRequest {
    @objc public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy = 0, reloadIgnoringLocalCacheData, returnCacheDataElseLoad, returnCacheDataDontLoad
    }
}
open class InputStream: Stream, @unchecked Sendable {
    public init(data: Data) {}
    public init?(url: URL) {}
    open func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int { 0 }
    open var hasBytesAvailable: Bool { false }
}
open class Stream: NSObject {
    open func open() {}
    open func close() {}
    open var streamError: (any Error)? { nil }
}

open class URLResponse: NSObject, @unchecked Sendable {
    public init(url: URL, mimeType: String?, expectedContentLength: Int, textEncodingName: String?) {}
    open var url: URL? { nil }
    open var mimeType: String? { nil }
    open var expectedContentLength: Int64 { 0 }
    open var textEncodingName: String? { nil }
    open var suggestedFilename: String? { nil }
}
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) { fatalError() }
    open var statusCode: Int { 0 }
    open var allHeaderFields: [AnyHashable: Any] { [:] }
    open func value(forHTTPHeaderField field: String) -> String? { nil }
    open class func localizedString(forStatusCode code: Int) -> String { "" }
}
open class CachedURLResponse: NSObject, @unchecked Sendable {}
open class URLCache: NSObject, @unchecked Sendable {
    @objc public enum StoragePolicy: UInt, Sendable { case allowed, allowedInMemoryOnly, notAllowed }
}

// MARK: - Sessions

open class HTTPCookie: NSObject, @unchecked Sendable {
    open class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] { fatalError() }
}

open class HTTPCookieStorage: NSObject, @unchecked Sendable {
    open func cookies(for URL: URL) -> [HTTPCookie]? { nil }
}

open class URLSessionConfiguration: NSObject, @unchecked Sendable {
    open class var `default`: URLSessionConfiguration { fatalError() }
    open class var ephemeral: URLSessionConfiguration { fatalError() }
    open class func background(withIdentifier identifier: String) -> URLSessionConfiguration { fatalError() }
    open var identifier: String? { nil }
    open var protocolClasses: [AnyClass]?
    open var urlCache: URLCache?
    open var httpAdditionalHeaders: [AnyHashable: Any]?
    open var timeoutIntervalForRequest: TimeInterval = 60
    open var timeoutIntervalForResource: TimeInterval = 604_800
    open var httpShouldSetCookies = true
    open var httpCookieStorage: HTTPCookieStorage?
    open var httpMaximumConnectionsPerHost = 6
    open var waitsForConnectivity = false
    open var allowsCellularAccess = true
    open var isDiscretionary = false
    open var sessionSendsLaunchEvents = false
    open var sharedContainerIdentifier: String?
    open var requestCachePolicy: NSURLRequest.CachePolicy = .useProtocolCachePolicy
}

open class URLSessionTask: NSObject, @unchecked Sendable {
    @objc public enum State: Int, Sendable { case running = 0, suspended, canceling, completed }
    open var taskIdentifier: Int { 0 }
    open var originalRequest: URLRequest? { nil }
    open var currentRequest: URLRequest? { nil }
    open var response: URLResponse? { nil }
    @objc open dynamic var delegate: (any URLSessionTaskDelegate)?
    open var countOfBytesReceived: Int64 { 0 }
    open var countOfBytesSent: Int64 { 0 }
    open var countOfBytesExpectedToSend: Int64 { 0 }
    open var countOfBytesExpectedToReceive: Int64 { 0 }
    open var taskDescription: String?
    @objc open dynamic var state: State { .running }
    open var error: (any Error)? { nil }
    open var priority: Float = 0.5
    open func cancel() {}
    open func resume() {}
    open func suspend() {}
}
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}
open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {}
open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    @objc public enum CloseCode: Int, Sendable {
        case invalid = 0, normalClosure = 1000, goingAway, protocolError, unsupportedData, noStatusReceived = 1005, abnormalClosure,
            invalidFramePayloadData, policyViolation, messageTooBig, mandatoryExtensionMissing, internalServerError, tlsHandshakeFailure = 1015
    }
    public enum Message: Sendable { case data(Data), string(String) }
    open var maximumMessageSize = 1 << 20
    open var closeCode: CloseCode { .invalid }
    open var closeReason: Data? { nil }
    open func cancel(with closeCode: CloseCode, reason: Data?) {}
    open func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {}
    public func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {}
    public func send(_ message: Message) async throws {}
    public func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {}
    public func receive() async throws -> Message { fatalError() }
}

open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    @objc public enum ResourceFetchType: Int, Sendable { case unknown, networkLoad, serverPush, localCache }
    open var request: URLRequest { fatalError() }
    open var response: URLResponse? { nil }
    open var fetchStartDate: Date? { nil }
    open var domainLookupStartDate: Date? { nil }
    open var domainLookupEndDate: Date? { nil }
    open var connectStartDate: Date? { nil }
    open var connectEndDate: Date? { nil }
    open var secureConnectionStartDate: Date? { nil }
    open var secureConnectionEndDate: Date? { nil }
    open var requestStartDate: Date? { nil }
    open var requestEndDate: Date? { nil }
    open var responseStartDate: Date? { nil }
    open var responseEndDate: Date? { nil }
    open var networkProtocolName: String? { nil }
    open var isProxyConnection: Bool { false }
    open var isReusedConnection: Bool { false }
    open var resourceFetchType: ResourceFetchType { .unknown }
    open var countOfRequestBodyBytesSent: Int64 { 0 }
    open var countOfResponseBodyBytesReceived: Int64 { 0 }
    open var countOfResponseBodyBytesAfterDecoding: Int64 { 0 }
}
open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
    open var transactionMetrics: [URLSessionTaskTransactionMetrics] { [] }
    open var taskInterval: DateInterval { fatalError() }
    open var redirectCount: Int { 0 }
}
@preconcurrency @objc public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
    @objc(useCredential:forAuthenticationChallenge:) func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
    @objc(continueWithoutCredentialForAuthenticationChallenge:) func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
    @objc(cancelAuthenticationChallenge:) func cancel(_ challenge: URLAuthenticationChallenge)
    @objc(performDefaultHandlingForAuthenticationChallenge:) optional func performDefaultHandling(for challenge: URLAuthenticationChallenge)
    @objc(rejectProtectionSpaceAndContinueWithChallenge:) optional func rejectProtectionSpaceAndContinue(
        with challenge: URLAuthenticationChallenge)
}
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
    public init(
        protectionSpace space: URLProtectionSpace, proposedCredential credential: URLCredential?, previousFailureCount: Int,
        failureResponse response: URLResponse?, error: (any Error)?, sender: any URLAuthenticationChallengeSender
    ) {}
    public init(authenticationChallenge challenge: URLAuthenticationChallenge, sender: any URLAuthenticationChallengeSender) {}
    open var protectionSpace: URLProtectionSpace { fatalError() }
    open var proposedCredential: URLCredential? { nil }
    open var previousFailureCount: Int { 0 }
    open var failureResponse: URLResponse? { nil }
    open var error: (any Error)? { nil }
    open var sender: (any URLAuthenticationChallengeSender)? { nil }
}
open class URLProtectionSpace: NSObject, @unchecked Sendable {
    open var host: String { "" }
    open var port: Int { 0 }
    open var authenticationMethod: String { "" }
}
open class URLCredential: NSObject, @unchecked Sendable {
    public enum Persistence: UInt, Sendable { case none, forSession, permanent, synchronizable }
    public init(user: String, password: String, persistence: Persistence) {}
}
open class OperationQueue: NSObject, @unchecked Sendable {
    open class var main: OperationQueue { fatalError() }
    open var maxConcurrentOperationCount = -1
    open var underlyingQueue: DispatchQueue?
}

open class URLSession: NSObject, @unchecked Sendable {
    @objc public enum ResponseDisposition: Int, Sendable { case cancel, allow, becomeDownload, becomeStream }
    @objc public enum AuthChallengeDisposition: Int, Sendable {
        case useCredential, performDefaultHandling, cancelAuthenticationChallenge, rejectProtectionSpace
    }
    open class var shared: URLSession { fatalError() }
    public init(configuration: URLSessionConfiguration) {}
    public init(configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?) {}
    open var configuration: URLSessionConfiguration { fatalError() }
    open var delegate: (any URLSessionDelegate)? { nil }
    open var delegateQueue: OperationQueue { fatalError() }
    open var sessionDescription: String?
    open func finishTasksAndInvalidate() {}
    open func invalidateAndCancel() {}
    open func dataTask(with request: URLRequest) -> URLSessionDataTask { fatalError() }
    open func dataTask(with url: URL) -> URLSessionDataTask { fatalError() }
    open func dataTask(with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionDataTask { fatalError() }
    public func upload(for request: URLRequest, from data: Data) async throws -> (Data, URLResponse) { fatalError() }
    open func uploadTask(with request: URLRequest, from data: Data) -> URLSessionUploadTask { fatalError() }
    open func uploadTask(with request: URLRequest, fromFile file: URL) -> URLSessionUploadTask { fatalError() }
    open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask { fatalError() }
    open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { fatalError() }
    open func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask { fatalError() }
    public var allTasks: [URLSessionTask] { get async { [] } }
    public func data(for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) { fatalError() }
}

@preconcurrency @objc public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    @objc optional func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
    @objc optional func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    @objc optional func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}
@preconcurrency @objc public protocol URLSessionTaskDelegate: URLSessionDelegate {
    @objc optional func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)
    @objc optional func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void)
    @objc optional func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    @objc optional func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)
    @objc optional func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64, totalBytesExpectedToSend: Int64)
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
    @objc optional func urlSession(_ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse)
    @objc optional func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
    @objc optional func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
    @objc optional func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
}
@preconcurrency @objc public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    @objc optional func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
    @objc(URLSession:dataTask:didBecomeDownloadTask:) optional func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)
    @objc(URLSession:dataTask:didBecomeStreamTask:) optional func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask)
    @objc optional func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
    @objc optional func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)
}
@preconcurrency @objc public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
    @objc optional func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64)
    @objc optional func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64)
}
@preconcurrency @objc public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    @objc optional func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)
    @objc optional func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
}

@objc public protocol URLProtocolClient: NSObjectProtocol {
    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)
    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)
    @objc(URLProtocol:didReceiveResponse:cacheStoragePolicy:) func urlProtocol(
        _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy)
    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)
    func urlProtocolDidFinishLoading(_ protocol: URLProtocol)
    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)
    @objc(URLProtocol:didReceiveAuthenticationChallenge:) func urlProtocol(
        _ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)
    @objc(URLProtocol:didCancelAuthenticationChallenge:) func urlProtocol(
        _ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
}
open class URLProtocol: NSObject {
    public init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {}
    open var client: (any URLProtocolClient)? { nil }
    open var request: URLRequest { fatalError() }
    open var cachedResponse: CachedURLResponse? { nil }
    open var task: URLSessionTask? { nil }
    open class func canInit(with request: URLRequest) -> Bool { false }
    open class func canInit(with task: URLSessionTask) -> Bool { false }
    open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    open func startLoading() {}
    open func stopLoading() {}
    open class func property(forKey key: String, in request: URLRequest) -> Any? { nil }
    open class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest) {}
    open class func removeProperty(forKey key: String, in request: NSMutableURLRequest) {}
    @discardableResult open class func registerClass(_ type: AnyClass) -> Bool { true }
    open class func unregisterClass(_ type: AnyClass) {}
}

// MARK: - Files, texts, threads

open class FileHandle: NSObject, @unchecked Sendable {
    open class var standardError: FileHandle { fatalError() }
    open class var standardOutput: FileHandle { fatalError() }
    public init(fileDescriptor: Int32, closeOnDealloc: Bool) {}
    public convenience init?(forReadingAtPath path: String) { nil }
    public convenience init?(forWritingAtPath path: String) { nil }
    public convenience init(forReadingFrom url: URL) throws { fatalError() }
    open var fileDescriptor: Int32 { -1 }
    open func write(_ data: Data) {}
    public func write<Bytes: DataProtocol>(contentsOf data: Bytes) throws {}
    public func read(upToCount count: Int) throws -> Data? { nil }
    public func readToEnd() throws -> Data? { nil }
    @discardableResult public func offset() throws -> UInt64 { 0 }
    public func seek(toOffset offset: UInt64) throws {}
    public func close() throws {}
}
public struct URLResourceValues: Sendable {
    public init() {}
    public var isExcludedFromBackup: Bool?
    public var fileSize: Int? { nil }
}
public struct URLResourceKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let fileSizeKey = URLResourceKey(rawValue: "NSURLFileSizeKey")
    public static let isExcludedFromBackupKey = URLResourceKey(rawValue: "NSURLIsExcludedFromBackupKey")
}
extension URL {
    public mutating func setResourceValues(_ values: URLResourceValues) throws {}
    public func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues { URLResourceValues() }
    public static var applicationSupportDirectory: URL { fatalError() }
    public static var cachesDirectory: URL { fatalError() }
}
extension FileProtectionType: @retroactive Hashable {}
extension FileManager {
    public func fileExists(atPath path: String, isDirectory: UnsafeMutablePointer<ObjCBool>?) -> Bool { false }
    public func containerURL(forSecurityApplicationGroupIdentifier identifier: String) -> URL? { nil }
}

open class NSLock: NSObject, @unchecked Sendable {
    open func lock() {}
    open func unlock() {}
    open func lock(before limit: Date) -> Bool { true }
    public func withLock<R>(_ body: () throws -> R) rethrows -> R { try body() }
}
open class Thread: NSObject {
    open class var current: Thread { fatalError() }
    open class var isMainThread: Bool { false }
    open class func detachNewThread(_ block: @escaping @Sendable () -> Void) {}
}
open class NSNotification: NSObject {
    public struct Name: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}
open class NotificationCenter: NSObject, @unchecked Sendable {
    open class var `default`: NotificationCenter { fatalError() }
    open func addObserver(
        forName name: NSNotification.Name?, object: Any?, queue: OperationQueue?, using block: @escaping @Sendable (NSNotification) -> Void
    ) -> any NSObjectProtocol { fatalError() }
    open func addObserver(_ observer: Any, selector: Selector, name: NSNotification.Name?, object: Any?) {}
    open func removeObserver(_ observer: Any) {}
}
open class UserDefaults: NSObject, @unchecked Sendable {
    open class var standard: UserDefaults { fatalError() }
    public init?(suiteName: String?) {}
    open func object(forKey key: String) -> Any? { nil }
    open func set(_ value: Any?, forKey key: String) {}
    open func set(_ value: Bool, forKey key: String) {}
}
open class NSCoder: NSObject {}
@objc public protocol NSCoding {}
open class Bundle: NSObject, @unchecked Sendable {
    open class var main: Bundle { fatalError() }
    open var bundleIdentifier: String? { nil }
    open var bundlePath: String { "" }
    open var appStoreReceiptURL: URL? { nil }
    open var infoDictionary: [String: Any]? { nil }
}
open class DateFormatter: NSObject, @unchecked Sendable {
    open var locale: Locale!
    open var timeZone: TimeZone!
    open var dateFormat: String!
    open var isLenient = false
    open func date(from string: String) -> Date? { nil }
    open func string(from date: Date) -> String { "" }
}
open class JSONSerialization: NSObject {
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let fragmentsAllowed = ReadingOptions(rawValue: 4)
    }
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let prettyPrinted = WritingOptions(rawValue: 1)
        public static let sortedKeys = WritingOptions(rawValue: 2)
    }
    open class func jsonObject(with data: Data, options: ReadingOptions = []) throws -> Any { fatalError() }
    open class func data(withJSONObject object: Any, options: WritingOptions = []) throws -> Data { fatalError() }
}
public struct NSRange: Hashable, Sendable {
    public var location: Int
    public var length: Int
    public init(location: Int, length: Int) { fatalError() }
    public init<R: RangeExpression, S: StringProtocol>(_ region: R, in target: S) where R.Bound == S.Index { fatalError() }
}
open class NSTextCheckingResult: NSObject { open var range: NSRange { fatalError() } }
open class NSRegularExpression: NSObject, @unchecked Sendable {
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let caseInsensitive = Options(rawValue: 1)
    }
    public struct MatchingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let reportProgress = MatchingOptions(rawValue: 1)
        public static let anchored = MatchingOptions(rawValue: 4)
    }
    public struct MatchingFlags: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public init(pattern: String, options: Options = []) throws {}
    open func firstMatch(in string: String, options: MatchingOptions = [], range: NSRange) -> NSTextCheckingResult? { nil }
    open func enumerateMatches(
        in string: String, options: MatchingOptions = [], range: NSRange,
        using block: (NSTextCheckingResult?, MatchingFlags, UnsafeMutablePointer<ObjCBool>) -> Void
    ) {}
}
public struct CharacterSet: Hashable, Sendable {
    public init(charactersIn string: String) {}
    public static var whitespaces: CharacterSet { fatalError() }
    public static var whitespacesAndNewlines: CharacterSet { fatalError() }
    public static var alphanumerics: CharacterSet { fatalError() }
    public static var urlQueryAllowed: CharacterSet { fatalError() }
    public static var urlPathAllowed: CharacterSet { fatalError() }
    public func contains(_ member: Unicode.Scalar) -> Bool { false }
}
extension StringProtocol {
    public func compare<T: StringProtocol>(
        _ string: T, options: String.CompareOptions = [], range: Range<Index>? = nil, locale: Locale? = nil
    ) -> ComparisonResult { .orderedSame }
    public func caseInsensitiveCompare<T: StringProtocol>(_ string: T) -> ComparisonResult { .orderedSame }
    public func addingPercentEncoding(withAllowedCharacters allowed: CharacterSet) -> String? { nil }
    public var removingPercentEncoding: String? { nil }
    public func trimmingCharacters(in set: CharacterSet) -> String { "" }
    public func range<T: StringProtocol>(
        of string: T, options: String.CompareOptions = [], range: Range<Index>? = nil, locale: Locale? = nil
    ) -> Range<Index>? { nil }
}

// MARK: - Geometry, of Core Graphics, which Foundation brings along

/// A separate type on Darwin. The compiler converts to and from it implicitly.
public struct CGFloat: Sendable, Hashable, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    public init(floatLiteral value: Double) {}
    public init(integerLiteral value: Int) {}
}
extension Double {
    public init(_ value: CGFloat) { self = 0 }
}
extension String {
    public init(format: String, _ arguments: any CVarArg...) { self = format }
}
public struct CGPoint: Hashable, Sendable {
    public var x: CGFloat, y: CGFloat
    public init(x: CGFloat, y: CGFloat) { (self.x, self.y) = (x, y) }
    public static var zero: CGPoint { CGPoint(x: 0, y: 0) }
}
public struct CGSize: Hashable, Sendable {
    public var width: CGFloat, height: CGFloat
    public init(width: CGFloat, height: CGFloat) { (self.width, self.height) = (width, height) }
    public static var zero: CGSize { CGSize(width: 0, height: 0) }
}
public struct CGRect: Hashable, Sendable {
    public var origin: CGPoint, size: CGSize
    public init(x: CGFloat, y: CGFloat, width: CGFloat, height: CGFloat) { (origin, size) = (CGPoint(x: x, y: y), CGSize(width: width, height: height)) }
    public static var zero: CGRect { CGRect(x: 0, y: 0, width: 0, height: 0) }
    public var midX: CGFloat { 0 }
    public var midY: CGFloat { 0 }
}

// MARK: - Processes

extension ProcessInfo {
    public enum ThermalState: Int, Sendable { case nominal = 0, fair, serious, critical }
    public var thermalState: ThermalState { .nominal }
    public var isLowPowerModeEnabled: Bool { false }
    public static let thermalStateDidChangeNotification = NSNotification.Name(rawValue: "")
}
extension NSNotification.Name { public static let NSProcessInfoPowerStateDidChange = NSNotification.Name(rawValue: "") }

#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
extension ProcessInfo {
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {}
}
#endif
