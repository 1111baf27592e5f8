// A quick look at the card that has the focus: Space opens it and closes it, J and K go on, Esc is back at the card.
(() => {
  "use strict";

  const panel = document.getElementById("peek");
  const root = document.body.dataset.root;
  let shown = null; // the card or row that is looked at

  const cardOf = (element) => element?.closest?.("[data-card], [data-row]");
  const keyOf = (card) => card.dataset.card ?? card.dataset.row;

  async function look(card) {
    const key = keyOf(card);
    shown = key;
    const answer = await fetch(`${root}issues/${key}/peek/`, { headers: { "HX-Request": "true" } }).catch(() => null);
    if (shown !== key) return; // another one is looked at by now
    if (!answer?.ok) return close();
    panel.innerHTML = await answer.text();
    panel.hidden = false;
    panel.scrollTop = 0;
    htmx.process(panel);
    document.getElementById("announcer").textContent = `Quick look at ${key}. Escape closes it.`;
  }

  function close() {
    shown = null;
    panel.hidden = true;
    panel.replaceChildren();
  }

  // The focus has stayed at the card, unless it was moved into the panel.
  function closeAndReturn() {
    const card = document.querySelector(`[data-card="${shown}"], [data-row="${shown}"]`);
    close();
    if (!cardOf(document.activeElement)) card?.querySelector(".title").focus();
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-peek]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      const card = cardOf(link);
      card.querySelector(".title").focus();
      look(card);
    } else if (event.target.closest("[data-close-peek]")) closeAndReturn();
  });

  document.addEventListener("focusin", (event) => {
    const card = cardOf(event.target);
    if (shown && card && keyOf(card) !== shown) look(card);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open], .lifted")) return;
    const card = event.target.matches?.(".title") && cardOf(event.target);
    if (event.key === " " && card && document.body.dataset.keys !== "off") shown === keyOf(card) ? close() : look(card);
    else if (event.key === "Escape" && shown && !document.querySelector("details.menu[open]")) closeAndReturn();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });
})();
