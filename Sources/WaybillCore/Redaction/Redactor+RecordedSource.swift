extension Redactor {
    /// Every string of a description.
    package func source(_ source: RecordedSource) -> RecordedSource {
        RecordedSource(
            id: source.id, installation: source.installation, app: text(source.app),
            appVersion: text(source.appVersion),
            device: text(source.device), os: text(source.os), osVersion: text(source.osVersion),
            attributes: attributes(source.attributes).0)
    }
}
