// Stands in for EventSource in a web view, where pages come from a handler of their scheme and not over a connection that could stay open: the app
// is told which stream a page wants to follow, and runs `EventSource.tell("changed")` for each event. A page follows one at most.
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
