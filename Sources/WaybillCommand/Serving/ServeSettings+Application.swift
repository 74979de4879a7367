#if Collector
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL
import WaybillCollector
import WaybillCore

extension ServeSettings {
    /// A server for a collector, which tells where it listens once it does.
    func application(_ collector: Collector) throws -> some ApplicationProtocol {
        var logger = Logger(label: "waybill")
        logger.logLevel = logLevel
        let (host, scheme) = (host.contains(":") ? "[\(host)]" : host, certificate == nil ? "http" : "https")
        var application = Application(
            router: collector.router(),
            server: try server(),
            configuration: ApplicationConfiguration(
                address: .hostname(self.host, port: port), serverName: "waybill",
                // Those beyond wait in the system's queue: a connection that is taken costs memory.
                availableConnectionsDelegate: .maximum(maximumConnections, logger: logger)),
            services: [RetentionService(collector, logger: logger)],
            onServerRunning: { channel in
                Terminal.write(["listening on \(scheme)://\(host):\(channel.localAddress?.port ?? 0)"])
            },
            logger: logger)
        if let backend { application.addServices(SpanService(collector, to: backend, logger: logger)) }
        return application
    }

    private func server() throws -> HTTPServerBuilder {
        let times = RequestDeadline.Times(
            header: .seconds(Int64(headerSeconds)), body: .seconds(Int64(bodySeconds)), idle: .seconds(Int64(idleSeconds)))
        let http = HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [RequestDeadline(times)], idleTimeout: .seconds(Int64(idleSeconds))))
        guard let certificate, let key else { return http }
        return try .tls(http, tlsConfiguration: Self.tls(certificate: certificate, key: key, password: keyPassword))
    }

    private static func tls(certificate: String, key: String, password: String?) throws(WaybillError) -> TLSConfiguration {
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
}
#endif
