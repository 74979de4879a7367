import Foundation

/// A certificate authority of its own, which nobody trusts unless told to, and one certificate of it, for 127.0.0.1.
public final class CertificateAuthority: Sendable {
    private let folder: TemporaryDirectory

    /// The authority's certificate, for those who are to trust it.
    var certificate: URL { folder.file("authority.pem") }
    /// The server's certificate and key.
    var serverCertificate: URL { folder.file("server.pem") }
    var serverKey: URL { folder.file("server.key") }

    /// Makes both with `openssl`.
    ///
    /// - Throws: `MissingProgram` where there is none.
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
    /// The environment of a process that trusts this authority, and nobody else.
    ///
    /// libcurl, which URLSession sends by there, has the place of its certificates compiled in. So what it loads them
    /// with is answered by a library in between; everything else about TLS stays as it is.
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
