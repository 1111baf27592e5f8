// Moving and changing a card without opening it: its menu, and S, P, A, L, I while it has the focus.
(() => {
  "use strict";

  const dialog = document.getElementById("quick");
  const root = document.body.dataset.root;

  async function open(address, group) {
    const answer = await fetch(address, { headers: { "HX-Request": "true" } }).catch(() => null);
    if (!answer) return htmx.trigger(document.body, "trimus:toast", { text: "The server did not answer.", error: true });
    if (!answer.ok) return location.assign(address);
    dialog.innerHTML = await answer.text();
    htmx.process(dialog);
    dialog.showModal();
    const place = dialog.querySelector(`[data-group="${group}"]`);
    (place?.querySelector('[aria-current="true"]') ?? place?.querySelector("button"))?.focus();
  }

  function assignMe(key) {
    const csrfmiddlewaretoken = document.querySelector("[name=csrfmiddlewaretoken]").value;
    const values = { csrfmiddlewaretoken, assignee: "me" };
    htmx.ajax("POST", `${root}issues/${key}/assign/`, { source: document.body, swap: "none", values });
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-change]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    link.closest("[data-card], [data-row]").querySelector(".title").focus(); // where the focus returns to
    open(link.href, "s");
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.body.dataset.keys === "off") return;
    const card = event.target.closest?.("[data-card], [data-row]");
    if (!card || document.querySelector("dialog[open]")) return;
    const key = card.dataset.card ?? card.dataset.row;
    if (event.key === "i") assignMe(key);
    else if ("spal".includes(event.key)) open(card.querySelector("[data-change]").href, event.key);
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });

  // A choice is made: done, and back at the card. The arrows walk the choices.
  dialog.addEventListener("submit", () => dialog.close());
  dialog.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by) return;
    const buttons = [...dialog.querySelectorAll(".choices button")];
    const here = buttons.indexOf(document.activeElement);
    buttons[(here + by + buttons.length) % buttons.length].focus();
    event.preventDefault();
  });
})();
