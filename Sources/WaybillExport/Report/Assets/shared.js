"use strict";

// Functions for the report and the inspector. Both scripts begin with this one.

// Puts text on the clipboard, also where a page has no access to it but through a selection.
function copied(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    return new Promise(function (done, failed) { // where a file from the disk has no clipboard
        const area = document.createElement("textarea");
        area.value = text;
        document.body.append(area);
        area.select();
        const isDone = document.execCommand("copy");
        area.remove();
        isDone ? done() : failed();
    });
}

// Moments in the reader's time zone; on hover, in UTC to the millisecond. An element's text decides whether it shows a date, a time, or both.
function two(number) { return String(number).padStart(2, "0"); }
function dayOf(moment) { return moment.getFullYear() + "-" + two(moment.getMonth() + 1) + "-" + two(moment.getDate()); }
function timeOf(moment) {
    return two(moment.getHours()) + ":" + two(moment.getMinutes()) + ":" + two(moment.getSeconds()) + "."
        + String(moment.getMilliseconds()).padStart(3, "0");
}
function showMoments(root, isLocal) {
    for (const element of root.querySelectorAll("time[datetime]:not([title])")) {
        const moment = new Date(element.dateTime);
        if (isNaN(moment)) continue;
        element.title = element.dateTime.slice(0, 23).replace("T", " ") + " UTC";
        const texts = isLocal ? document.createTreeWalker(element, NodeFilter.SHOW_TEXT) : null;
        while (texts && texts.nextNode()) {
            const text = texts.currentNode;
            text.data = text.data.replace(/\d{4}-\d\d-\d\d/, dayOf(moment))
                .replace(/\d\d:\d\d(:\d\d(\.\d+)?)?/, shown => timeOf(moment).slice(0, shown.length));
        }
    }
}
// Empty if it is UTC or unknown.
function nameOfZone() { return (Intl.DateTimeFormat().resolvedOptions().timeZone || "").replace(/^(Etc\/)?UTC$/, ""); }

// A button that copies a text, and tells whether it could.
function offerCopy(button, text) {
    const name = button.textContent;
    const tell = word => () => {
        button.textContent = word;
        setTimeout(() => { button.textContent = name; }, 1500);
    };
    button.addEventListener("click", () => copied(text()).then(tell("Copied"), tell("Not allowed")));
}
function copyButton(source) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copier";
    button.textContent = "Copy";
    offerCopy(button, () => source.textContent);
    return button;
}
// Buttons are made when a row is unfolded: there may be hundreds.
function addButtons(details) {
    if (details.dataset.ready) return;
    details.dataset.ready = "yes";
    for (const source of details.querySelectorAll(":scope > pre")) source.before(copyButton(source));
}
document.addEventListener("toggle", event => { if (event.target.matches("details")) addButtons(event.target); }, true);
