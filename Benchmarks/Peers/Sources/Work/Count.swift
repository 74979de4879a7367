import Foundation

/// A number in a file, which survives when the process is killed.
final class Count {
    private let number: UnsafeMutablePointer<UInt64>

    init(file: String) throws {
        let descriptor = open(file, O_RDWR | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        guard descriptor >= 0, ftruncate(descriptor, 8) == 0,
            let page = mmap(nil, 8, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), page != MAP_FAILED
        else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        number = page.bindMemory(to: UInt64.self, capacity: 1)
    }

    func increment() { number.pointee += 1 }
}
