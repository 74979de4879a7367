// Updates lists live, handles keys, and copies texts. The pages are complete without this script.
//
// Text is only ever set as text. New rows are part of a page of the inspector, which has escaped them. They are inserted as nodes of
// a document that runs no scripts.
(function () {
    const zone = document.getElementById("zone");
    const isChosen = !!zone && "chosen" in zone.dataset;
    showTimes(document);
    if (zone) tellZone();

    // Without a choice, the cookie asks for further pages in the reader's zone, with lists and charts alike.
    function tellZone() {
        const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
        if (isChosen && own && own !== zone.textContent) {
            const link = document.createElement("a");
            const address = new URL(location.href);
            address.searchParams.set("zone", own);
            [link.href, link.textContent] = [address.search, "Show " + own];
            zone.nextSibling.after(" ", link, ". ");
        } else if (!isChosen && own) {
            const root = new URL("..", document.querySelector("link[rel=icon]").href).pathname;
            document.cookie = "waybill_zone=" + own + "; path=" + root + "; max-age=31536000; samesite=strict";
        }
        if (isChosen && zone.textContent !== "UTC") zone.textContent += ", UTC on hover";
        if (!isChosen && nameOfZone()) zone.textContent = nameOfZone() + ", UTC on hover; those of charts in " + zone.textContent;
    }

    // Each day's first row shows its date on a narrow page, and the reader's days differ from the server's.
    function showTimes(root) {
        showMoments(root, !isChosen);
        let before = null;
        for (const row of root.querySelectorAll(".rows:not(.src) > li")) {
            const day = row.querySelector("time u");
            row.classList.toggle("day", !!day && day.textContent !== before);
            before = day && day.textContent;
        }
    }

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
            output.textContent = count ? count + (count >= 50 ? "+" : "") + " new" : waiting ? "changed" : state;
            bar.dataset.state = isPaused ? "paused" : state;
            button.textContent = isPaused ? "Resume" : "Pause";
        }

        function show(page) {
            if (list()) showRows(page);
            const open = Array.from(document.querySelectorAll("[data-fresh] li[id]:has(> details[open])"), row => row.id);
            const focused = document.activeElement.closest("[data-fresh] li[id]");
            const parts = Array.from(page.querySelectorAll("[data-fresh]"), part => document.importNode(part, true));
            for (const part of document.querySelectorAll("[data-fresh]")) {
                const fresh = parts.shift();
                if (!fresh) continue;
                part.replaceWith(fresh);
                showTimes(fresh);
            }
            for (const id of open) {
                const details = document.querySelector("#" + CSS.escape(id) + " > details");
                if (details) details.open = true;
            }
            const again = focused && document.getElementById(focused.id);
            if (again) (again.querySelector("summary") || again).focus({preventScroll: true});
            zoomByDragging();
            waiting = null;
            // The page of a transaction has no bar after it ended.
            if (!page.querySelector("[data-live]")) {
                if (stream) stream.close();
                bar.remove();
            }
        }

        function showRows(page) {
            const known = new Set(ids(document));
            const focused = document.activeElement.closest(".rows > li");
            const rows = Array.from(page.querySelectorAll(".rows > li"), row => document.importNode(row, true));
            for (const row of rows) if (!known.has(row.id)) row.classList.add("new");
            list().replaceChildren(...rows);
            showTimes(list());
            const none = document.querySelector(".none");
            if (none && rows.length) none.remove();
            const again = focused && document.getElementById(focused.id);
            if (again) again.querySelector("a").focus({preventScroll: true});
        }

        // A search that is being written must not disappear.
        function isTyping() { return document.activeElement.matches("[data-fresh] input"); }

        async function ask() {
            if (isAsking) { isStale = true; return; }
            isAsking = true;
            try {
                const response = await fetch(location.href);
                if (!response.ok || response.redirected) throw new Error();
                const page = new DOMParser().parseFromString(await response.text(), "text/html");
                if (isPaused || isTyping()) waiting = page; else show(page);
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

    // Back, Esc and the link to the list lead to the list as it was: its filter, its place and the focused row.
    keepPlaces();

    function keepPlaces() {
        const own = location.pathname, up = document.querySelector("a[rel=up]");
        // A web view may forbid the storage.
        function save(key, value) { try { sessionStorage.setItem("waybill " + key, JSON.stringify(value)); } catch {} }
        function saved(key) { try { return JSON.parse(sessionStorage.getItem("waybill " + key)); } catch { return null; } }
        if (up) {
            const opened = saved("opened"), path = new URL(up.href).pathname;
            const list = opened && opened.page === own ? opened.list : saved("list " + path);
            if (list) up.href = list;
            up.addEventListener("click", () => save("return", up.href));
            return;
        }
        if (!document.querySelector(".rows")) return;
        save("list " + own, location.href);
        document.addEventListener("click", function (event) {
            const row = event.target.closest(".rows > li");
            if (!row || !event.target.closest("a")) return;
            save("opened", {list: location.href, page: new URL(event.target.closest("a").href).pathname, top: scrollY});
        });
        const opened = saved("opened"), entry = performance.getEntriesByType("navigation")[0];
        const isBack = saved("return") === location.href || entry && entry.type === "back_forward";
        save("return", null);
        if (!isBack || !opened || opened.list !== location.href) return;
        const link = Array.from(document.querySelectorAll(".rows a")).find(link => link.pathname === opened.page);
        if (link) link.focus({preventScroll: true});
        scrollTo(0, opened.top);
    }

    // Fields that were left empty do not come into the address.
    for (const form of document.querySelectorAll("form.find, form.ask")) {
        form.addEventListener("formdata", function (event) {
            const entries = Array.from(event.formData);
            for (const [name] of entries) event.formData.delete(name);
            for (const [name, value] of entries) if (value) event.formData.append(name, value);
        });
        form.addEventListener("change", function (event) {
            // Values of one thing are none of another.
            if (event.target.name === "by") for (const name of ["a", "b"]) if (form.elements[name]) form.elements[name].value = "";
            if (event.target.matches("select[name=since]")) for (const field of form.querySelectorAll(".range input")) field.value = "";
            if (event.target.matches(".find select, .ask select[name=by]")) form.requestSubmit();
        });
    }

    // A field completes its whole text, so each suggestion begins with the terms before the last one.
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
        return rows.length ? rows : Array.from(document.querySelectorAll(".bars summary, .bars li a"));
    }

    function move(step) {
        const all = stops();
        const next = all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + step))];
        if (next) { next.focus(); next.scrollIntoView({block: "nearest"}); }
    }

    const help = document.getElementById("help");
    // `showModal` focuses the button at the end, so scroll back to the top.
    function showHelp() { help.showModal(); help.scrollTop = 0; }
    const keys = document.getElementById("keys");
    if (keys && help) {
        keys.hidden = false;
        keys.addEventListener("click", showHelp);
    }

    document.addEventListener("keydown", function (event) {
        if (event.ctrlKey || event.metaKey || event.altKey || help && help.open) return;
        // The browser closes an open popover.
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
        } else if (event.key === "n" && document.querySelector(".axis .next")) {
            document.querySelector(".axis .next").click();
        } else if (event.key === "j" || event.key === "k") {
            move(event.key === "j" ? 1 : -1);
        }
    });

    // An address that names a row unfolds it, and what it is in. The link in the axis leads on from there.
    function unfold() {
        const row = location.hash && document.getElementById(location.hash.slice(1));
        if (!row || !row.matches(".bars li")) return;
        const folds = [row.querySelector("details")];
        for (let fold = row.closest("details"); fold; fold = fold.parentElement.closest("details")) folds.push(fold);
        for (const fold of folds) if (fold) fold.open = true;
        row.tabIndex = -1;
        row.scrollIntoView({block: "center"});
        (row.querySelector("summary") || row).focus({preventScroll: true});
        const [link, next] = [document.querySelector(".axis .next"), row.querySelector(".next")];
        if (link && next) [link.href, link.textContent] = [next.href, "Next error"];
    }
    addEventListener("hashchange", unfold);
    unfold();

    // Dragging over a part of a picture calls back with its ends, as shares of the width. A click stays a click.
    function selectByDragging(picture, height, select) {
        const frame = document.createElementNS("http://www.w3.org/2000/svg", "rect");
        let [from, isDragged] = [null, false];
        function share(event) {
            const box = picture.getBoundingClientRect();
            return Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
        }
        function draw(event) {
            if (from === null) return [0, 0];
            const [start, end] = [from, share(event)].sort((one, other) => one - other);
            if (!isDragged && end - start < 1 / 100) return [0, 0];
            if (!isDragged) { isDragged = true; picture.setPointerCapture(event.pointerId); picture.append(frame); }
            const shown = {class: "shown", x: 100 * start + "%", width: 100 * (end - start) + "%", height};
            for (const [name, value] of Object.entries(shown)) frame.setAttribute(name, value);
            return [start, end];
        }
        picture.addEventListener("dragstart", event => event.preventDefault());
        picture.addEventListener("pointerdown", event => { if (event.button === 0) [from, isDragged] = [share(event), false]; });
        picture.addEventListener("pointermove", draw);
        picture.addEventListener("pointercancel", () => { from = null; frame.remove(); });
        picture.addEventListener("pointerup", function (event) {
            const [start, end] = draw(event);
            from = null;
            if (isDragged) select(start, end);
        });
        picture.addEventListener("click", event => { if (isDragged) event.preventDefault(); }, true);
    }

    // Dragging over the columns above a list shows their part of it.
    const volume = document.querySelector(".volume");
    if (volume) {
        const times = volume.dataset.times.split(" ").map(Number);
        for (const hint of volume.querySelectorAll(".drags")) hint.hidden = false;
        selectByDragging(volume.querySelector("svg"), "100%", function (start, end) {
            const count = times.length - 1, address = new URL(location.href);
            const ends = [Math.floor(start * count), Math.ceil(end * count)].map(index => new Date(1000 * times[index]));
            address.searchParams.delete("cursor");
            for (const [index, name] of ["since", "until"].entries()) {
                address.searchParams.set(name, ends[index].toISOString().replace(".000", ""));
            }
            location.href = address.href;
        });
    }

    // Dragging over the overview zooms.
    zoomByDragging();

    function zoomByDragging() {
        const [overview, excerpt] = [document.querySelector(".overview"), document.querySelector("form.excerpt")];
        if (!overview || !excerpt) return;
        selectByDragging(overview, 20, function (start, end) {
            excerpt.elements.from.value = (start * overview.dataset.ms).toFixed(3);
            excerpt.elements.to.value = (end * overview.dataset.ms).toFixed(3);
            excerpt.requestSubmit();
        });
    }

    for (const button of document.querySelectorAll("[data-copy=link]")) {
        button.hidden = false;
        offerCopy(button, () => location.href.split("#")[0]);
    }

    // The text of an element; for a table, a line for each row.
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

    for (const details of document.querySelectorAll("details[open]")) addButtons(details);
})();
