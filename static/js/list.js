// The list: groups and children that are folded away stay so, also after a fresh fetch and on the next visit.
(() => {
  "use strict";

  const KEPT = `trimus-folded:${document.body.dataset.root}`;
  const folded = new Set(JSON.parse(localStorage.getItem(KEPT) ?? "[]"));

  function remember(name, isFolded) {
    if (isFolded) folded.add(name);
    else folded.delete(name);
    localStorage.setItem(KEPT, JSON.stringify([...folded]));
  }

  const depthOf = (row) => Number(row.dataset.depth);

  function showChildren(row) {
    const isFolded = folded.has(row.dataset.row);
    row.querySelector("[data-fold]").setAttribute("aria-expanded", String(!isFolded));
    for (let next = row.nextElementSibling; next?.dataset.row && depthOf(next) > depthOf(row); next = next.nextElementSibling) {
      if (isFolded) next.hidden = true;
    }
  }

  function show() {
    for (const group of document.querySelectorAll("[data-group]")) group.open = !folded.has(group.dataset.group);
    for (const row of document.querySelectorAll("[data-row][hidden]")) row.hidden = false;
    for (const button of document.querySelectorAll("[data-fold]")) showChildren(button.closest("[data-row]"));
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-fold]");
    if (!button) return;
    remember(button.closest("[data-row]").dataset.row, button.getAttribute("aria-expanded") === "true");
    show();
  });

  // Such an event does not bubble, but it is caught.
  document.addEventListener("toggle", ({ target }) => {
    if (target.dataset?.group) remember(target.dataset.group, !target.open);
  }, { capture: true });

  document.addEventListener("htmx:after:swap", show);
  show();
})();
