// Lists follow the store, the keyboard moves, buttons copy. Without it everything can be read all the same.
//
// Text is only ever set as text. Rows that are new come as a page of our own, whose text was escaped where it was made, and are put in as nodes of
// a document in which nothing runs.
(function () {
    showMoments(document, true);
    const zone = document.getElementById("zone");
    if (zone && nameOfZone()) zone.textContent = nameOfZone() + ", UTC on hover; those of charts in " + zone.textContent;

    const live = document.querySelector("[data-live]");
    if (live) followStore(live);

    function followStore(bar) {
        const [output, button] = [bar.querySelector("output"), bar.querySelector("button")];
        let stream = null, isPaused = false, isAsking = false, isStale = false, waiting = null;

        function list() { return document.querySelector(".rows"); }
        function ids(root) { return Array.from(root.querySelectorAll(".rows > li"), row => row.id); }

        function tell(state) {
            const known = new Set(ids(document));
            const count = waiting ? ids(waiting).filter(id => !known.has(id)).length : 0;
            output.textContent = count ? count + (count >= 50 ? "+" : "") + " new" : state;
            bar.dataset.state = isPaused ? "paused" : state;
            button.textContent = isPaused ? "Resume" : "Pause";
        }

        function show(page) {
            const known = new Set(ids(document));
            const focused = document.activeElement.closest && document.activeElement.closest(".rows > li");
            const rows = Array.from(page.querySelectorAll(".rows > li"), row => document.importNode(row, true));
            for (const row of rows) if (!known.has(row.id)) row.classList.add("new");
            list().replaceChildren(...rows);
            showMoments(list(), true);
            const none = document.querySelector(".none");
            if (none && rows.length) none.remove();
            const again = focused && document.getElementById(focused.id);
            if (again) again.querySelector("a").focus({preventScroll: true});
            waiting = null;
        }

        async function ask() {
            if (isAsking) { isStale = true; return; }
            isAsking = true;
            try {
                const response = await fetch(location.href);
                if (!response.ok || response.redirected) throw new Error();
                const page = new DOMParser().parseFromString(await response.text(), "text/html");
                if (isPaused) waiting = page; else show(page);
                tell(isPaused ? "paused" : "live");
            } catch { tell("offline"); }
            isAsking = false;
            if (isStale) { isStale = false; ask(); }
        }

        // A browser opens at most six connections to one host: a hidden window closes its own.
        function connect() {
            if (document.hidden) {
                if (stream) stream.close();
                stream = null;
            } else if (!stream) {
                stream = new EventSource(bar.dataset.live);
                stream.addEventListener("open", () => tell(isPaused ? "paused" : "live"));
                stream.addEventListener("error", () => tell("offline"));
                stream.addEventListener("changed", ask);
            }
        }

        button.addEventListener("click", function () {
            isPaused = !isPaused;
            if (!isPaused && waiting) show(waiting);
            tell(isPaused ? "paused" : "live");
        });
        document.addEventListener("visibilitychange", connect);
        bar.hidden = false;
        connect();
    }

    // Fields that were left empty do not come into the address.
    for (const form of document.querySelectorAll("form.find, form.ask")) {
        form.addEventListener("submit", function () {
            for (const field of form.elements) if (field.name && !field.value) field.disabled = true;
        });
        form.addEventListener("change", function (event) {
            // Values of one thing are none of another.
            if (event.target.name === "by") for (const name of ["a", "b"]) form.elements[name].disabled = true;
            if (event.target.matches(".find select, .ask select[name=by]")) form.requestSubmit();
        });
    }

    // A field completes all that is in it: what stands before the last term is put before each that is offered.
    const field = document.querySelector("input[list=terms]");
    if (field) {
        let terms = [], known = null;
        const offer = function () {
            const before = field.value.match(/^(?:(?:[^\s"]|"(?:[^"\\]|\\.)*(?:"|$))*\s+)*-?/)[0];
            if (before === known) return;
            known = before;
            field.list.replaceChildren(...terms.map(term => new Option("", before + term)));
        };
        const load = async function () {
            const response = await fetch(field.dataset.terms);
            if (!response.ok) return;
            [terms, known] = [await response.json(), null];
            offer();
        };
        field.addEventListener("input", offer);
        if (document.activeElement === field) load(); else field.addEventListener("focus", load, {once: true});
    }

    function stops() {
        const rows = Array.from(document.querySelectorAll(".rows a, .cases h2 a"));
        return rows.length ? rows : Array.from(document.querySelectorAll(".t figure li a, .t details > summary"));
    }

    function move(step) {
        const all = stops();
        const next = all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + step))];
        if (next) { next.focus(); next.scrollIntoView({block: "nearest"}); }
    }

    const help = document.getElementById("help");
    // What has the focus is at its end.
    function showHelp() { help.showModal(); help.scrollTop = 0; }
    const keys = document.getElementById("keys");
    if (keys && help) {
        keys.hidden = false;
        keys.addEventListener("click", showHelp);
    }

    document.addEventListener("keydown", function (event) {
        if (event.ctrlKey || event.metaKey || event.altKey || help && help.open) return;
        // What is unfolded over the page is closed by the browser.
        if (event.key === "Escape" && CSS.supports("selector(:popover-open)") && document.querySelector(":popover-open")) return;
        const isTyping = event.target.matches("input, select, textarea");
        const field = document.querySelector("input[type=search]");
        const up = document.querySelector("a[rel=up]");
        if (event.key === "Escape") {
            if (isTyping) event.target.blur(); else if (up) up.click();
        } else if (isTyping) {
            return;
        } else if (event.key === "/" && field) {
            event.preventDefault();
            field.select();
        } else if (event.key === "?" && help) {
            showHelp();
        } else if (event.key === "j" || event.key === "k") {
            move(event.key === "j" ? 1 : -1);
        }
    });

    // An address that names a request unfolds it.
    function unfold() {
        const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
        if (target && target.matches("details")) {
            target.open = true;
            target.scrollIntoView({block: "start"});
            target.querySelector("summary").focus({preventScroll: true});
        }
    }
    addEventListener("hashchange", unfold);
    unfold();

    function offerCopy(button, text) {
        const name = button.textContent;
        const tell = word => () => {
            button.textContent = word;
            setTimeout(() => { button.textContent = name; }, 1500);
        };
        button.addEventListener("click", () => copied(text()).then(tell("Copied"), tell("Not allowed")));
    }

    for (const button of document.querySelectorAll("[data-copy=link]")) {
        button.hidden = false;
        offerCopy(button, () => location.href.split("#")[0]);
    }

    // A text as it stands; of a table a line for each row.
    function textOf(source) {
        if (!source.rows) return source.textContent;
        return Array.from(source.rows, row => Array.from(row.cells, cell => cell.textContent).join(": ")).join("\n");
    }
    for (const button of document.querySelectorAll("[data-copies]")) {
        const source = document.getElementById(button.dataset.copies);
        if (!source) continue;
        button.hidden = false;
        offerCopy(button, () => textOf(source));
    }

    // Buttons are made when a request is unfolded: there may be hundreds.
    function addButtons(details) {
        if (details.dataset.ready) return;
        details.dataset.ready = "yes";
        for (const source of details.querySelectorAll(":scope > pre")) {
            const button = document.createElement("button");
            button.type = "button";
            button.className = "copier";
            button.textContent = "Copy";
            offerCopy(button, () => source.textContent);
            source.before(button);
        }
    }
    document.addEventListener("toggle", event => { if (event.target.matches("details")) addButtons(event.target); }, true);
    for (const details of document.querySelectorAll("details[open]")) addButtons(details);
})();
