// Finds texts in a page: marks them, unfolds the elements around them, and moves from one to the next.
//
// Marks are highlights (W3C, CSS Custom Highlight API), which don't change the page. Browsers without highlights have only their own search.
(function () {
    "use strict";
    const bar = document.querySelector("[data-find]");
    if (!bar || !window.Highlight || !CSS.highlights) return;
    const scope = document.getElementById(bar.dataset.find);
    const [field, output] = [bar.querySelector("input"), bar.querySelector("output")];
    const limit = 5000;
    let matches = [], place = -1, asked = "";
    bar.hidden = false;

    // A line may consist of several text nodes: the name and the value of a member.
    function lines() {
        const lines = new Map();
        const walker = document.createTreeWalker(scope, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const node = walker.currentNode, parent = node.parentElement;
            if (parent.closest("button, .copier, details.raw:not([open])")) continue;
            const line = parent.closest("p, summary, pre, th, td, li, h2") || parent;
            if (!lines.has(line)) lines.set(line, []);
            lines.get(line).push(node);
        }
        return lines.values();
    }

    function range(nodes, start, end) {
        const range = new Range();
        for (const node of nodes) {
            if (start >= 0 && start < node.length) range.setStart(node, start);
            if (end <= node.length) { range.setEnd(node, end); return range; }
            start -= node.length;
            end -= node.length;
        }
        return range;
    }

    function search() {
        matches = [];
        place = -1;
        asked = field.value;
        if (asked) {
            const pattern = new RegExp(asked.replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&"), "gi");
            for (const nodes of lines()) {
                const text = nodes.map(node => node.data).join("");
                for (const match of text.matchAll(pattern)) {
                    if (matches.length === limit) break;
                    matches.push(range(nodes, match.index, match.index + match[0].length));
                }
            }
        }
        CSS.highlights.set("found", new Highlight(...matches));
        CSS.highlights.delete("found-here");
        tell();
    }

    function tell() {
        const count = matches.length + (matches.length === limit ? "+" : "");
        output.textContent = !asked ? "" : !matches.length ? "Not found" : place < 0 ? count + " found" : place + 1 + " of " + count;
    }

    function go(step) {
        if (field.value !== asked) search();
        if (!matches.length) return;
        place = (place + step + matches.length) % matches.length;
        if (place < 0) place = matches.length - 1;
        const match = matches[place];
        for (let fold = match.startContainer.parentElement.closest("details"); fold; fold = fold.parentElement.closest("details")) {
            fold.open = true;
        }
        CSS.highlights.set("found-here", new Highlight(match));
        const box = match.startContainer.parentElement.closest("pre, .json");
        if (box && box.scrollHeight > box.clientHeight) {
            box.scrollTop += match.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
        }
        const at = match.getBoundingClientRect();
        if (at.top < 90 || at.bottom > innerHeight - 20) scrollBy(0, at.top - innerHeight / 2);
        tell();
    }

    field.addEventListener("input", search);
    field.addEventListener("keydown", function (event) {
        if (event.key !== "Enter") return;
        event.preventDefault();
        go(event.shiftKey ? -1 : 1);
    });
})();
