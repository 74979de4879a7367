public import Foundation

/// nginx as packaged by Debian, in the foreground on 127.0.0.1: a server written by others.
///
/// It serves a folder, redirects `/moved` to `/hello.txt`, accepts whatever is posted to `/upload`, and logs each
/// request as one line.
public final class Nginx: RealServer {
    public let port: Int
    private let process = Process()
    private let folder: TemporaryDirectory
    private let authority: CertificateAuthority?

    /// Starts the server. It answers from then on.
    ///
    /// - Parameter authority: The authority that signs its certificate; `nil` for HTTP.
    public init(serving root: URL, authority: CertificateAuthority? = nil) throws {
        let program = try InstalledProgram("nginx")
        folder = try TemporaryDirectory()
        self.authority = authority
        // nginx gets the socket, as in an upgrade of itself: nobody can take the port in between, and callers wait in
        // its queue until it is up.
        let (socket, port) = try Socket.boundToLoopback()
        guard listen(socket.descriptor, 128) == 0 else { throw POSIXError.current }
        self.port = port
        try Self.configuration(port: port, root: root, folder: folder, authority: authority)
            .write(to: folder.file("nginx.conf"), atomically: false, encoding: .utf8)
        process.executableURL = program.url
        process.arguments = [
            "-p", folder.url.path, "-c", folder.file("nginx.conf").path, "-e", folder.file("error.log").path,
        ]
        process.standardInput = FileHandle(fileDescriptor: socket.descriptor, closeOnDealloc: false)
        process.environment = ["NGINX": "0;"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        withExtendedLifetime(socket) {}
    }

    // SIGKILL would leave its worker behind.
    deinit { if process.isRunning { kill(process.processIdentifier, SIGTERM) } }

    public func stop() throws -> [String] {
        kill(process.processIdentifier, SIGQUIT)
        process.waitUntilExit()
        return try String(contentsOf: folder.file("access.log"), encoding: .utf8).split(separator: "\n").map(
            String.init)
    }

    private static func configuration(
        port: Int, root: URL, folder: TemporaryDirectory, authority: CertificateAuthority?
    ) -> String {
        let certificate = authority.map {
            "ssl_certificate \($0.serverCertificate.path); ssl_certificate_key \($0.serverKey.path);"
        }
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder.url.path)/\($0);"
        }
        return """
            daemon off; worker_processes 1; \(getuid() == 0 ? "user root;" : "") pid \(folder.file("pid").path);
            events {}
            http {
                \(temporary.joined(separator: " "))
                log_format line '$request_method $uri $status $body_bytes_sent $content_length $http_waybill_transaction';
                access_log \(folder.file("access.log").path) line;
                server {
                    listen 127.0.0.1:\(port)\(certificate == nil ? "" : " ssl"); \(certificate ?? "")
                    root \(root.path);
                    location /moved { return 302 /hello.txt; }
                    location /upload { client_max_body_size 0; return 200; }
                }
            }
            """
    }
}
