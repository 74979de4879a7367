// Replaces EventSource in a web view. There, a handler of a URL scheme serves the pages, and no connection can stay open. The script reports to the
// app which stream a page follows, and the app runs `EventSource.tell("changed")` for each event. A page follows one stream at most.
(function () {
    "use strict";
    let followed = null;
    const ask = address => webkit.messageHandlers.events.postMessage(address);
    window.EventSource = class extends EventTarget {
        constructor(address) {
            super();
            followed = this;
            ask(new URL(address, location.href).href);
        }

        close() {
            if (followed !== this) return;
            followed = null;
            ask("");
        }

        static tell(name) { if (followed) followed.dispatchEvent(new Event(name)); }
    };
})();
