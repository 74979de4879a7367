public import Foundation

/// Python's `http.server` on 127.0.0.1: a server written by others, which speaks HTTP/1.0.
public final class PythonServer: RealServer {
    public let port: Int
    private let process = Process()
    private let log = Pipe()
    private let authority: CertificateAuthority?

    /// Starts the server. It answers from then on.
    ///
    /// - Parameter authority: The authority that signs its certificate; `nil` for HTTP.
    public init(serving root: URL, authority: CertificateAuthority? = nil) throws {
        self.authority = authority
        process.executableURL = try InstalledProgram("python3").url
        process.currentDirectoryURL = root
        process.arguments =
            ["-u", "-c", Self.program]
            + [authority?.serverCertificate.path, authority?.serverKey.path].compactMap { $0 }
        process.standardInput = FileHandle.nullDevice
        process.standardError = log
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        guard let line = String(bytes: output.fileHandleForReading.availableData, encoding: .utf8),
            let port = Int(line.dropLast())
        else {
            kill(process.processIdentifier, SIGKILL)
            throw CocoaError(.executableLoad)
        }
        self.port = port
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    public func stop() throws -> [String] {
        // It logs each request before it answers. SIGTERM would not end it: it is blocked in a test's threads, and
        // children inherit that.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return String(decoding: log.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).split(separator: "\n")
            .map(String.init)
    }

    /// The same as `python3 -m http.server`, on any free port and, if asked, over TLS.
    private static let program = """
        import http.server, ssl, sys
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
        if len(sys.argv) > 1:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[1], sys.argv[2])
            server.socket = context.wrap_socket(server.socket, server_side=True)
        sys.stdout.write(f"{server.server_port}\\n")
        server.serve_forever()
        """
}
