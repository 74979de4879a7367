import WaybillCore

extension SourceRegistry {
    /// Opens the exchange of a request that was made without the library, and cannot be given a header field any more.
    ///
    /// It belongs to the transaction that its header field names, where that is one of ours; without that field to its
    /// caller's. One that carries the number of an exchange of ours is recorded already.
    func observeExchange(_ request: ExchangeRequest, of caller: OpenPart?) -> ExchangeRecorder {
        guard let source, let told = source.settings.header.read(request.value(for:)).header else {
            return openExchange(request, part: caller)
        }
        if told.source == source.id, told.exchange != nil { return ExchangeRecorder() }
        return openExchange(request, part: source.announcedParts.part(of: told.transaction))
    }
}
