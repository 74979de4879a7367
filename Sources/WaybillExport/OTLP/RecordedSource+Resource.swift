import WaybillCore

extension RecordedSource {
    /// A source as a resource, by the semantic conventions (https://opentelemetry.io/docs/specs/semconv/resource/);
    /// what the app says about its launch stands beside it under its own names, e.g. `deployment.environment.name`.
    var resource: Attributes {
        var resource = attributes
        // Required, with this value for what has no name.
        resource["service.name"] = .string(app.isEmpty ? "unknown_service" : app)
        resource["service.instance.id"] = .string(id.description)
        let texts = [
            ("service.version", appVersion), ("os.name", os), ("os.version", osVersion),
            ("device.model.identifier", device),
            ("app.installation.id", installation?.description ?? ""),
        ]
        for (name, text) in texts where !text.isEmpty { resource[name] = .string(text) }
        if let type = Self.osTypes[os.lowercased()] { resource["os.type"] = .string(type) }
        return resource
    }

    private static let osTypes = [
        "linux": "linux", "android": "linux", "windows": "windows", "macos": "darwin", "ios": "darwin",
        "ipados": "darwin",
        "tvos": "darwin", "watchos": "darwin", "visionos": "darwin",
    ]
}
