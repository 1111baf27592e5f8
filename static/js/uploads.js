// Files that are pasted into a comment, dropped on it or chosen: sent at once with their progress, and named in the text.
(() => {
  "use strict";

  const MOST_BYTES = 25 * 1024 * 1024; // as the server has it; it says so before the way is made
  const LOST = "The connection was lost. The file is not attached; try again.";

  const formOf = (element) => element.closest?.("[data-attach]");

  function lineFor(form, name) {
    const line = document.createElement("div");
    line.className = "row";
    const words = Object.assign(document.createElement("span"), { className: "clip", textContent: name });
    const bar = Object.assign(document.createElement("progress"), { className: "progress", max: 1, value: 0 });
    bar.setAttribute("aria-label", `Sending ${name}`);
    line.append(words, bar);
    form.querySelector("[data-uploads]").append(line);
    return { line, words, bar };
  }

  function refuse({ line, words, bar }, reason) {
    bar.remove();
    words.textContent = reason;
    words.className = "bad";
    const close = Object.assign(document.createElement("button"), { type: "button", textContent: "Dismiss" });
    close.className = "button bare compact push";
    close.addEventListener("click", () => line.remove());
    line.append(close);
  }

  function reasonOf(request) {
    const events = JSON.parse(request.getResponseHeader("HX-Trigger") ?? "{}");
    const said = events["trimus:toast"];
    return said ? `${said.text} ${said.hint}`.trim() : `The server did not take it (${request.status}).`;
  }

  function insert(form, text) {
    const field = form.querySelector("[data-text]");
    const before = field.value.slice(0, field.selectionStart);
    const gap = before && !before.endsWith("\n") ? "\n" : "";
    field.setRangeText(`${gap}${text}\n`, field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  }

  function send(form, file) {
    const shown = lineFor(form, file.name);
    if (file.size > MOST_BYTES) return refuse(shown, `“${file.name}” is larger than 25 MiB, the most that fits.`);
    const request = new XMLHttpRequest(); // fetch tells no progress
    const body = new FormData();
    body.append("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
    body.append("cite", "yes");
    body.append("file", file, file.name);
    request.open("POST", form.dataset.attach);
    request.setRequestHeader("HX-Request", "true");
    request.upload.addEventListener("progress", (event) => (shown.bar.value = event.loaded / event.total));
    request.addEventListener("error", () => refuse(shown, LOST));
    request.addEventListener("load", () => {
      if (request.status !== 200) return refuse(shown, reasonOf(request));
      shown.line.remove();
      insert(form, JSON.parse(request.responseText).text);
      htmx.trigger(document.body, "trimus:changed");
    });
    request.send(body);
  }

  function take(event, form, files) {
    if (!form || !files?.length) return;
    event.preventDefault();
    for (const file of files) send(form, file);
  }

  document.addEventListener("paste", (event) => {
    // A table or a formatted text comes with a picture of itself: who pastes that means the words.
    if (event.clipboardData?.getData("text/plain")) return;
    take(event, formOf(event.target), event.clipboardData?.files);
  });
  document.addEventListener("drop", (event) => {
    mark(null);
    if (!carriesFiles(event)) return;
    event.preventDefault(); // beside the composer too: the browser would leave the page for the file
    take(event, formOf(event.target), event.dataTransfer.files);
  });
  document.addEventListener("change", (event) => {
    if (!event.target.matches("[data-files]")) return;
    take(event, formOf(event.target), [...event.target.files]);
    event.target.value = "";
  });

  function mark(form) {
    for (const one of document.querySelectorAll(".composer.over")) one.classList.remove("over");
    form?.querySelector(".composer").classList.add("over");
  }

  // A field for files takes what is dropped on it by itself.
  function carriesFiles({ dataTransfer, target }) {
    return dataTransfer?.types.includes("Files") && !target.matches?.('input[type="file"]');
  }

  document.addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    const form = formOf(event.target);
    if (!form) event.dataTransfer.dropEffect = "none";
    mark(form);
  });
  document.addEventListener("dragleave", (event) => !event.relatedTarget && mark(null)); // out of the window
})();
