import Foundation

/// A private certificate authority, which clients trust only if told to, and one certificate that it signs, for
/// 127.0.0.1.
public final class CertificateAuthority: Sendable {
    private let folder: TemporaryDirectory

    /// The authority's certificate, for clients that must trust it.
    var certificate: URL { folder.file("authority.pem") }
    /// The server's certificate and key.
    var serverCertificate: URL { folder.file("server.pem") }
    var serverKey: URL { folder.file("server.key") }

    /// Makes both with `openssl`.
    ///
    /// - Throws: `MissingProgram` if it is not installed.
    public init() throws {
        folder = try TemporaryDirectory()
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        try openssl(
            ["req", "-x509"] + key
                + [
                    "-subj", "/CN=Authority of a test", "-keyout", folder.file("authority.key").path, "-out",
                    certificate.path,
                ])
        try openssl(
            ["req", "-x509"] + key + [
                "-CA", certificate.path, "-CAkey", folder.file("authority.key").path, "-subj", "/CN=127.0.0.1",
                "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE",
                "-keyout", serverKey.path, "-out", serverCertificate.path,
            ])
    }

    #if os(Linux)
    /// The environment of a process that trusts this authority, and no other.
    ///
    /// On Linux, URLSession sends through libcurl, which has the location of its certificates compiled in. A library in
    /// between replaces the file that libcurl loads; everything else about TLS stays the same.
    public func trusted() throws -> [String: String] {
        let source = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdlib.h>
            #define TRUSTING(name) \\
                int name(void *store, const char *file) { \\
                    int (*next)(void *, const char *) = dlsym(RTLD_NEXT, #name); \\
                    return next(store, getenv("WAYBILL_TEST_AUTHORITY")); \\
                }
            TRUSTING(X509_STORE_load_file)
            TRUSTING(SSL_CTX_load_verify_file)
            """
        let library = folder.file("trust.so")
        try source.write(to: folder.file("trust.c"), atomically: false, encoding: .utf8)
        let (status, _) = try InstalledProgram("clang").run([
            "-shared", "-fPIC", "-o", library.path, folder.file("trust.c").path, "-ldl",
        ])
        guard status == 0 else { throw CocoaError(.executableLoad) }
        return ["LD_PRELOAD": library.path, "WAYBILL_TEST_AUTHORITY": certificate.path]
    }
    #endif

    private func openssl(_ arguments: [String]) throws {
        let (status, _) = try InstalledProgram("openssl").run(arguments)
        guard status == 0 else { throw CocoaError(.executableLoad) }
    }
}
