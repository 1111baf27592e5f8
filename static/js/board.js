// Moving cards: by dragging, or with the keyboard (M lifts, arrows move, M drops, Esc puts back).
(() => {
  "use strict";

  let dragged = null;
  let origin = null; // the way back of what is dragged
  let lifted = null; // { card, putBack }
  const line = document.createElement("div");
  line.className = "drop-line";

  const cardsOf = (column) => column.querySelector("[data-cards]");
  const nameOf = (column) => column.querySelector("h2").textContent;
  const announcer = document.getElementById("announcer");
  const announce = (words) => (announcer.textContent = words);

  // --- Telling the server, one move after the other

  function send(card, column, before, putBack) {
    const address = document.getElementById("columns").dataset.moves.replace("KEY-0", card.dataset.card);
    htmx.ajax("POST", address, {
      source: document.body,
      swap: "none",
      putBack,
      values: {
        csrfmiddlewaretoken: document.querySelector("[name=csrfmiddlewaretoken]").value,
        by: document.getElementById("columns").dataset.by,
        to: column.dataset.key,
        before: before?.dataset.card ?? "",
      },
    });
  }

  const fetchAnew = () => htmx.trigger(document.getElementById("columns"), "trimus:refresh");

  // A move that was not made: the card is back in its place, and what else may have changed is seen.
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    if (!ctx.putBack || ctx.response?.status === 204) return;
    ctx.putBack();
    fetchAnew();
  });

  // Where the card is now, as a way back to there.
  function placeOf(card) {
    const key = card.closest(".column").dataset.key;
    const next = card.nextElementSibling?.dataset.card;
    return () => {
      const cards = document.querySelector(`.column[data-key="${CSS.escape(key)}"] [data-cards]`);
      const stands = document.querySelector(`[data-card="${card.dataset.card}"]`);
      if (cards && stands) cards.insertBefore(stands, cards.querySelector(`[data-card="${next}"]`));
    };
  }

  // --- Dragging

  function cardBelow(cards, y) {
    return [...cards.querySelectorAll("[data-card]")].find((card) => {
      const box = card.getBoundingClientRect();
      return card !== dragged && y < box.top + box.height / 2;
    });
  }

  document.addEventListener("dragstart", (event) => {
    dragged = event.target.closest?.("[data-card]") ?? null;
    if (!dragged) return;
    origin = placeOf(dragged);
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged.dataset.card);
    dragged.classList.add("dragged");
  });

  document.addEventListener("dragover", (event) => {
    const column = event.target.closest?.(".column");
    if (!dragged || !column) return;
    event.preventDefault();
    const cards = cardsOf(column);
    cards.insertBefore(line, cardBelow(cards, event.clientY) ?? null);
  });

  document.addEventListener("drop", (event) => {
    const column = event.target.closest?.(".column");
    if (!dragged || !column) return;
    event.preventDefault();
    const before = cardBelow(cardsOf(column), event.clientY) ?? null;
    cardsOf(column).insertBefore(dragged, before);
    send(dragged, column, before, origin);
  });

  document.addEventListener("dragend", () => {
    line.remove();
    dragged?.classList.remove("dragged");
    dragged = null;
  });

  // --- The keyboard

  function lift(card) {
    lifted = { card, putBack: placeOf(card) };
    card.classList.add("lifted");
    announce(`${card.dataset.card} is lifted. Arrows move it, M drops it, Escape puts it back.`);
  }

  function drop() {
    const { card, putBack } = lifted;
    const column = card.closest(".column");
    send(card, column, card.nextElementSibling, putBack);
    announce(`${card.dataset.card} is dropped in ${nameOf(column)}.`);
    release();
  }

  function giveUp() {
    const { card } = lifted;
    lifted.putBack();
    announce(`${card.dataset.card} is back in ${nameOf(card.closest(".column"))}.`);
    release();
  }

  function release() {
    const { card } = lifted;
    card.classList.remove("lifted");
    lifted = null;
    card.querySelector(".title").focus();
  }

  function carry(key) {
    const { card } = lifted;
    const column = card.closest(".column");
    if (key === "ArrowUp") card.previousElementSibling?.before(card);
    else if (key === "ArrowDown") card.nextElementSibling?.after(card);
    else {
      const other = key === "ArrowLeft" ? column.previousElementSibling : column.nextElementSibling;
      if (!other) return;
      const cards = cardsOf(other);
      const place = [...cardsOf(column).children].indexOf(card);
      cards.insertBefore(card, cards.children[place] ?? null);
    }
    card.querySelector(".title").focus();
    card.scrollIntoView({ block: "nearest", inline: "nearest" });
    const here = card.closest(".column");
    const place = [...cardsOf(here).children].indexOf(card) + 1;
    announce(`${nameOf(here)}, place ${place} of ${cardsOf(here).children.length}`);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const card = event.target.closest?.("[data-card][draggable]");
    if (lifted) {
      const act = { m: drop, Escape: giveUp }[event.key] ?? (event.key.startsWith("Arrow") && (() => carry(event.key)));
      if (!act || card !== lifted.card) return;
      act();
    } else if (event.key === "m" && card && document.body.dataset.keys !== "off") lift(card);
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });

  // Who goes elsewhere with a card in the hand lets it fall where it was.
  document.addEventListener("focusin", (event) => {
    if (!lifted || lifted.card.contains(event.target)) return;
    giveUp();
    event.target.focus();
  });
})();
