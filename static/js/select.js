// Selecting many issues: boxes, X on a card or row, Shift for all in between. The selection outlives a fresh fetch.
(() => {
  "use strict";

  const bar = document.getElementById("bulk");
  const selected = new Set();
  let last = null;

  const CARRIED = "trimus-carried";

  const boxes = () => [...document.querySelectorAll('.pick input')];
  const boxOf = (place) => place?.querySelector(".pick input");

  function show() {
    for (const box of boxes()) box.checked = selected.has(box.value);
    bar.hidden = selected.size === 0;
    bar.querySelector("[data-count]").textContent = `${selected.size} selected`;
    document.querySelector(".columns")?.classList.toggle("selecting", selected.size > 0);
  }

  function set(box, on) {
    if (on) selected.add(box.value);
    else selected.delete(box.value);
  }

  // With `range`, all from the one that was chosen last up to this one become like this one, but for what is folded away.
  function choose(box, on, range) {
    const all = boxes().filter((one) => one.checkVisibility());
    const from = all.findIndex((one) => one.value === last);
    const to = all.indexOf(box);
    if (range && from >= 0) all.slice(Math.min(from, to), Math.max(from, to) + 1).forEach((one) => set(one, on));
    else set(box, on);
    last = box.value;
    show();
  }

  function clear() {
    selected.clear();
    last = null;
    show();
  }

  document.addEventListener("click", (event) => {
    if (event.target.matches(".pick input")) choose(event.target, event.target.checked, event.shiftKey);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const box = boxOf(event.target.closest?.("[data-card], [data-row]"));
    const areKeysOff = document.body.dataset.keys === "off";
    if (event.key.toLowerCase() === "x" && box && !areKeysOff) choose(box, !selected.has(box.value), event.shiftKey);
    else if (event.key === "Escape" && selected.size && !document.querySelector(".lifted")) clear();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });

  bar.addEventListener("reset", clear);
  // What was moved out of sight is still selected: the form carries it along.
  bar.addEventListener("submit", () => {
    const seen = new Set(boxes().map((box) => box.value));
    for (const value of selected) {
      if (seen.has(value)) continue;
      bar.append(Object.assign(document.createElement("input"), { type: "hidden", name: "issue", value }));
    }
  });
  document.addEventListener("htmx:after:swap", show);
  boxes().forEach((box) => set(box, box.checked)); // kept by the browser when one comes back

  // From the board to the list and back the selection comes along.
  document.querySelector(".tabs")?.addEventListener("click", (event) => {
    if (event.target.closest("a")) sessionStorage.setItem(CARRIED, JSON.stringify([...selected]));
  });
  for (const value of JSON.parse(sessionStorage.getItem(CARRIED) ?? "[]")) selected.add(value);
  sessionStorage.removeItem(CARRIED);
  show();
})();
