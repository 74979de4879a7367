"use strict";

// What the report and the pages of the inspector share; in front of either script.

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

// Moments as the reader's clock shows them; on hover, in UTC to the millisecond. What is shown of each, its text says: a date, a time, or both.
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
// Empty where it is UTC, or not known.
function nameOfZone() { return (Intl.DateTimeFormat().resolvedOptions().timeZone || "").replace(/^(Etc\/)?UTC$/, ""); }
