// Moving cards: by dragging, or with the keyboard (M lifts, arrows move, M drops, Esc puts back).
(() => {
  "use strict";

  let dragged = null;
  let lifted = null;
  const line = document.createElement("div");
  line.className = "drop-line";

  const cardsOf = (column) => column.querySelector("[data-cards]");
  const nameOf = (column) => column.querySelector("h2").textContent;
  const announcer = document.getElementById("announcer");
  const announce = (words) => (announcer.textContent = words);

  // --- Telling the server

  function send(card, column, before) {
    const address = document.getElementById("columns").dataset.moves.replace("KEY-0", card.dataset.card);
    htmx.ajax("POST", address, {
      source: document.getElementById("columns"),
      swap: "none",
      values: {
        csrfmiddlewaretoken: document.querySelector("[name=csrfmiddlewaretoken]").value,
        by: document.getElementById("columns").dataset.by,
        to: column.dataset.key,
        before: before?.dataset.card ?? "",
      },
    });
  }

  // A refused move: the board is fetched as it is, so the card is back in its place.
  document.addEventListener("htmx:response:error", () => {
    htmx.trigger(document.getElementById("columns"), "trimus:refresh");
  });

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
    send(dragged, column, before);
  });

  document.addEventListener("dragend", () => {
    line.remove();
    dragged?.classList.remove("dragged");
    dragged = null;
  });

  // --- The keyboard

  function lift(card) {
    lifted = { card, column: card.closest(".column"), next: card.nextElementSibling };
    card.classList.add("lifted");
    announce(`${card.dataset.card} is lifted. Arrows move it, M drops it, Escape puts it back.`);
  }

  function drop() {
    const { card } = lifted;
    const column = card.closest(".column");
    release();
    send(card, column, card.nextElementSibling);
    announce(`${card.dataset.card} is dropped in ${nameOf(column)}.`);
  }

  function putBack() {
    const { card, column, next } = lifted;
    cardsOf(column).insertBefore(card, next);
    release();
    announce(`${card.dataset.card} is back in ${nameOf(column)}.`);
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
      const act = { m: drop, Escape: putBack }[event.key] ?? (event.key.startsWith("Arrow") && (() => carry(event.key)));
      if (!act) return;
      act();
    } else if (event.key === "m" && card) lift(card);
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });
})();
