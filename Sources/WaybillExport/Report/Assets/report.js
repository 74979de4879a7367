// Searches, filters by outcome, unfolds all, and copies. Text is only ever set as text (textContent), never as markup.
(function () {
    const transactions = Array.from(document.querySelectorAll("details.t"));
    const bar = document.querySelector("search");
    const field = bar.querySelector("input");
    const unfold = bar.querySelector("button");
    const count = bar.querySelector("output");
    const chosen = new Set();
    let texts = null;

    const zone = document.getElementById("zone");
    const isLocal = zone.textContent === "UTC";
    showMoments(document, isLocal);
    if (isLocal && nameOfZone()) zone.textContent = nameOfZone() + ", UTC on hover";
    if (isLocal) sortByDay();

    // Under the days of the reader's clock, where these are other ones.
    function sortByDay() {
        const written = transactions.map(element => element.parentElement.querySelector("h2").textContent);
        const days = transactions.map(function (element, index) {
            const moment = new Date(element.querySelector("summary time").dateTime);
            return isNaN(moment) ? written[index] : dayOf(moment);
        });
        if (days.every((day, index) => day === written[index])) return;
        const sections = [];
        transactions.forEach(function (element, index) {
            if (days[index] !== days[index - 1]) {
                const heading = document.createElement("h2");
                heading.textContent = days[index];
                sections.push(document.createElement("section"));
                sections.at(-1).append(heading);
            }
            sections.at(-1).append(element);
        });
        document.querySelector("main").replaceChildren(...sections);
    }

    // With script, a browser keeps the content of noscript as text, so that thousands of transactions load quickly.
    // It is markup of our own, whose text was escaped where it was made.
    function contentOf(plain) { return new DOMParser().parseFromString(plain.textContent, "text/html").body; }
    function draw(element) {
        const plain = element.querySelector(":scope > noscript");
        if (!plain) return;
        plain.replaceWith(...Array.from(contentOf(plain).childNodes, node => document.importNode(node, true)));
        showMoments(element, isLocal);
        for (const code of element.querySelectorAll(".in > p code")) code.after(copyButton(code));
    }

    // A support code is found with and without its hyphen.
    function textOf(element) {
        const plain = element.querySelector(":scope > noscript");
        const shown = plain ? element.querySelector("summary").textContent + contentOf(plain).textContent : element.textContent;
        const text = shown.toLowerCase();
        return text + " " + text.replaceAll("-", "");
    }

    function show() {
        const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
        if (words.length && !texts) texts = transactions.map(textOf);
        let shown = 0;
        transactions.forEach(function (element, index) {
            const isWanted = !chosen.size || chosen.has(element.classList[1]);
            element.hidden = !(isWanted && words.every(word => texts[index].includes(word)));
            if (!element.hidden) shown += 1;
        });
        for (const day of document.querySelectorAll("main > section")) {
            day.hidden = !day.querySelector("details.t:not([hidden])");
        }
        count.textContent = words.length || chosen.size ? shown + " of " + transactions.length : "";
    }

    field.addEventListener("input", show);
    document.addEventListener("keydown", function (event) {
        const isTyping = event.target instanceof HTMLInputElement;
        if (event.key === "/" && !isTyping) {
            event.preventDefault();
            field.focus();
        } else if (event.key === "Escape" && isTyping) {
            field.value = "";
            show();
        }
    });

    unfold.addEventListener("click", function () {
        const isOpening = unfold.dataset.open !== "yes";
        for (const element of transactions) if (!element.hidden) element.open = isOpening;
        unfold.dataset.open = isOpening ? "yes" : "";
        unfold.textContent = isOpening ? "Fold all" : "Unfold all";
    });

    for (const item of document.querySelectorAll(".outcomes li")) {
        const button = document.createElement("button");
        button.type = "button";
        button.setAttribute("aria-pressed", "false");
        button.append(...item.childNodes);
        button.addEventListener("click", function () {
            const outcome = item.className;
            if (!chosen.delete(outcome)) chosen.add(outcome);
            button.setAttribute("aria-pressed", String(chosen.has(outcome)));
            show();
        });
        item.append(button);
    }

    document.addEventListener("toggle", event => { if (event.target.matches("details.t")) draw(event.target); }, true);

    bar.hidden = !transactions.length;
})();
