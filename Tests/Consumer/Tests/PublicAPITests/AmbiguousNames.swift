import Vocabulary
import Waybill

/// Uses names of another module beside `import Waybill`. Compiling is the proof: a name that Waybill also exports would
/// be ambiguous.
struct AmbiguousNames {
    @Query var name = "Query"

    var types: [Any.Type] {
        [
            Answer.self, AnyCancellable.self, Attribute.self, Binding.self, Color.self, Configuration.self,
            Edge.self, Entry.self, Event.self, Exchange.self, Failure.self, Health.self, History.self,
            Index.self, Journal.self, Layout.self, Limits.self, Model.self, Outcome.self, Page.self,
            Part.self, Picker.self, Publisher.self, Record.self, Recorder.self, Recording.self,
            Relationship.self, Row.self, Scene.self, Schema.self, Section.self, Session.self, Source.self,
            State.self, Store.self, Subscription.self, Table.self, Text.self, Timeline.self, Transaction.self,
            View.self,
        ]
    }
}
