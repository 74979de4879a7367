import Vocabulary
import Waybill

/// Names of another module used beside `import Waybill`. That it compiles is the proof: one that Waybill exports, too,
/// would be ambiguous.
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
