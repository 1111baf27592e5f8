// The keyboard. One letter does one thing, never in a field and never with a modifier.
(() => {
  "use strict";

  const GO_MS = 1500; // after G, so long for the letter

  let goUntil = 0;

  const isField = (element) => element.closest?.("input, textarea, select, [contenteditable]") !== null;
  const find = (selector) => document.querySelector(selector);

  function rows() {
    // What is folded away is not walked through.
    return [...document.querySelectorAll("[data-card] .title, [data-row] .title")].filter((one) => one.checkVisibility());
  }

  function step(by) {
    const all = rows();
    if (!all.length) return;
    const here = all.indexOf(document.activeElement);
    const next = here < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, here + by));
    all[next].focus();
    all[next].scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  // What had the focus may leave the page: then the row in its place has it, else the page's main part, never the body.
  let last = null;
  let place = -1;

  document.addEventListener("focusin", (event) => {
    last = event.target;
    const row = last.closest?.("[data-row], [data-card]");
    place = row ? rows().findIndex((title) => row.contains(title)) : -1;
  });
  document.addEventListener("htmx:after:swap", () => {
    if (document.activeElement !== document.body || last?.isConnected !== false) return;
    const all = place < 0 ? [] : rows();
    (all[Math.min(place, all.length - 1)] ?? find("#main"))?.focus({ preventScroll: all.length === 0 });
  });

  function openMenu(letter) {
    const menu = find(`[data-menu="${letter}"]`);
    if (!menu) return false;
    menu.open = true;
    const current = menu.querySelector('.list [aria-current="true"]') ?? menu.querySelector(".list button");
    current?.focus();
    return true;
  }

  // What a letter does to the row that has the focus comes before what it does on the page.
  function pressInRow(letter) {
    const target = document.activeElement.closest("[data-row]")?.querySelector(`[data-row-key="${CSS.escape(letter)}"]`);
    target?.click();
    if (target?.matches("summary")) target.parentElement.querySelector(".list button")?.focus();
    return Boolean(target);
  }

  function press(letter) {
    const target = find(`[data-key="${letter}"]`);
    target?.click();
    return target !== null;
  }

  function quote() {
    const field = find("#comment-body");
    if (!field) return false;
    const selected = String(window.getSelection()).trim();
    if (selected) {
      const quoted = selected.split("\n").map((line) => `> ${line}`).join("\n");
      field.value = `${field.value}${field.value && !field.value.endsWith("\n") ? "\n" : ""}${quoted}\n\n`;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    field.focus();
    return true;
  }

  function search() {
    const field = find("[data-search]");
    if (!field?.offsetParent) location.hash = "#nav"; // on a phone it is in the sheet
    field?.focus();
    field?.select();
    return true;
  }

  function back() {
    const menu = find("details.menu[open]");
    if (menu) {
      menu.open = false;
      return true;
    }
    const link = find("[data-back]");
    if (!link) return false;
    // Who comes from a form has sent it: back is the board, not the form.
    const cameFromHere =
      document.referrer.startsWith(location.origin) && !/\/(new|edit)\/$/.test(document.referrer) && history.length > 1;
    if (cameFromHere) history.back();
    else link.click();
    return true;
  }

  const KEYS = {
    "/": search,
    "?": () => find("#shortcuts")?.showModal() ?? true,
    c: () => press("c"),
    e: () => press("e"),
    i: () => press("i"),
    j: () => step(1) ?? true,
    k: () => step(-1) ?? true,
    r: quote,
    s: () => openMenu("s"),
    p: () => openMenu("p"),
    a: () => openMenu("a"),
    l: () => openMenu("l"),
    Escape: back,
  };

  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && event.target.form) {
      event.target.form.requestSubmit();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.body.dataset.keys === "off" && event.key !== "Escape") return;
    if (find("dialog[open]")) return;
    if (isField(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (Date.now() < goUntil) {
      goUntil = 0;
      const place = find(`[data-go="${CSS.escape(event.key.toLowerCase())}"]`);
      if (place) {
        event.preventDefault();
        place.click();
        return;
      }
    }
    if (event.key === "g") {
      goUntil = Date.now() + GO_MS;
      return;
    }
    if (pressInRow(event.key) || KEYS[event.key]?.()) event.preventDefault();
  });
})();
