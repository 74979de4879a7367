#if Collector
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import WaybillCollector
import WaybillCore
import WaybillInspector

#if TLS
import HummingbirdTLS
import NIOSSL
#endif

extension ServeSettings {
    /// Prints its address when it starts to listen.
    func application(_ collector: Collector) throws -> some ApplicationProtocol {
        let slots = ConnectionSlots(maximumConnections) {
            collector.identity(of: $0)
        } countRefused: {
            collector.countOverload(of: $0)
        }
        var application = try application(
            collector.router(isForLoopback: isInsecure, ConnectedRequestContext.self), slots, warnings)
        // Leave time to change limits that are defaults before they delete anything.
        let delay = retentionDefaults.isEmpty ? Duration.zero : .seconds(3600)
        application.addServices(RetentionService(collector, firstAfter: delay, logger: application.logger))
        if let backend { application.addServices(SpanService(collector, to: backend, logger: application.logger)) }
        if let alerts {
            application.addServices(
                BudgetService(collector, alerts.budgets, to: alerts.webhook, logger: application.logger))
        }
        return application
    }

    func application(_ inspector: Inspector) throws -> some ApplicationProtocol {
        let slots = ConnectionSlots(maximumConnections) { _ in Access.Identity.anyone }
        return try application(inspector.router(ConnectedRequestContext.self), slots, [])
    }

    private func application(
        _ router: Router<ConnectedRequestContext>, _ slots: ConnectionSlots, _ warnings: [String]
    ) throws -> Application<ConnectedResponder> {
        var logger = Logger(label: "waybill")
        logger.logLevel = logLevel
        let (host, scheme) = (host.contains(":") ? "[\(host)]" : host, certificate == nil ? "http" : "https")
        return Application(
            responder: ConnectedResponder(base: router.buildResponder(), slots: slots),
            server: try server(slots),
            configuration: ApplicationConfiguration(
                address: .hostname(self.host, port: port), serverName: "waybill",
                availableConnectionsDelegate: slots),
            onServerRunning: { channel in
                try? Terminal.write(["listening on \(scheme)://\(host):\(channel.localAddress?.port ?? 0)"])
                for warning in warnings { Terminal.warn(warning) }
            },
            logger: logger)
    }

    private func server(_ slots: ConnectionSlots) throws -> HTTPServerBuilder {
        let times = ClientConnection.Times(
            header: .seconds(Int64(headerSeconds)), body: .seconds(Int64(bodySeconds)),
            idle: .seconds(Int64(idleSeconds)), stalled: .seconds(Int64(stalledSeconds)),
            stalledByteCount: minimumBytesPerSecond * stalledSeconds, write: .seconds(Int64(writeSeconds)))
        let http = HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [ClientConnection(slots, times)],
                idleTimeout: .seconds(Int64(idleSeconds))))
        guard let certificate, let key else { return http }
        #if TLS
        return try .tls(http, tlsConfiguration: Self.tls(certificate: certificate, key: key, password: keyPassword))
        #else
        throw WaybillError(
            .setting,
            "This waybill was built without TLS: build it with the trait TLS, or put a proxy in front of it that speaks HTTPS."
        )
        #endif
    }

    #if TLS
    private static func tls(certificate: String, key: String, password: String?) throws(WaybillError)
        -> TLSConfiguration
    {
        let chain: [NIOSSLCertificate]
        do { chain = try NIOSSLCertificate.fromPEMFile(certificate) } catch {
            throw WaybillError(.setting, "The certificate \(certificate) cannot be read, or is not PEM.")
        }
        do {
            let privateKey =
                if let password {
                    try NIOSSLPrivateKey(file: key, format: .pem) { set in set(Array(password.utf8)) }
                } else {
                    try NIOSSLPrivateKey(file: key, format: .pem)
                }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
            configuration.minimumTLSVersion = .tlsv12
            return configuration
        } catch {
            throw WaybillError(.setting, "The private key \(key) cannot be read, is not PEM, or its password is wrong.")
        }
    }
    #endif
}

enum FreedMemory {
    /// Makes the C library return freed memory once 128 KiB are free at the end of an arena.
    /// By default, glibc keeps up to 64 MiB per thread after large questions. Other C libraries lack this function.
    static func giveBack() {
        guard let symbol = dlsym(nil, "mallopt") else { return }
        let mallopt = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
        let trimThreshold: CInt = -1  // M_TRIM_THRESHOLD of malloc.h
        _ = mallopt(trimThreshold, 128 << 10)
    }
}
#endif
