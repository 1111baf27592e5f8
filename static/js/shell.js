// What every page needs: forms that are sent once, menus, dialogs, toasts, times that stay true.
(() => {
  "use strict";

  const TOAST_MS = 6000;
  const UNDO_MS = 10000;
  const AGO_MS = 30000;
  const SENDING_MS = 10000;

  document.documentElement.classList.add("scripted");

  // --- Who logs in again in another tab gets another token: the forms that stand here take it over, unless it is
  // somebody else's.

  function takeToken() {
    const { csrf, who } = document.body.dataset;
    const cookies = document.cookie.split("; ");
    const token = cookies.find((cookie) => cookie.startsWith(`${csrf}=`))?.slice(csrf.length + 1);
    if (!token || !cookies.includes(who)) return;
    for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = token;
  }

  document.addEventListener("submit", takeToken, { capture: true });
  window.addEventListener("focus", takeToken);

  // --- What is on its way is not sent again by a second click or Ctrl Enter

  let underWay = new WeakMap(); // by form, the words that it is sending and since when

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.getAttribute("method") !== "post") return;
    const words = new URLSearchParams(new FormData(form, event.submitter)).toString();
    const sending = underWay.get(form);
    if (sending?.words === words && Date.now() - sending.since < SENDING_MS) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else underWay.set(form, { words, since: Date.now() });
  }, { capture: true });
  document.addEventListener("htmx:finally:request", (event) => underWay.delete(event.target));
  window.addEventListener("pageshow", () => (underWay = new WeakMap())); // who comes back may send it again

  // --- Menus: <details> that close when one looks elsewhere, and are walked with the arrows.

  function closeMenus(except) {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (menu !== except && !menu.contains(except)) menu.open = false;
    }
  }

  function itemsOf(menu) {
    return [...menu.querySelectorAll(".list button, .list a")].filter((item) => item.offsetParent !== null);
  }

  document.addEventListener("click", (event) => closeMenus(event.target.closest("details.menu")));

  document.addEventListener("keydown", (event) => {
    const menu = event.target.closest?.("details.menu[open]");
    if (!menu) return;
    if (event.key === "Escape") {
      menu.open = false;
      menu.querySelector("summary").focus();
      event.stopImmediatePropagation(); // Escape has done its work here
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const items = itemsOf(menu);
      const step = event.key === "ArrowDown" ? 1 : -1;
      const here = items.indexOf(document.activeElement);
      items[(here + step + items.length) % items.length]?.focus();
      event.preventDefault();
    }
  });

  // A choice in a menu is made: the menu closes and the focus stays where the reader was.
  document.addEventListener("submit", (event) => {
    const menu = event.target.closest("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });

  // --- Dialogs

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-opens]");
    if (opener) document.getElementById(opener.dataset.opens)?.showModal();
    if (event.target instanceof HTMLDialogElement) event.target.close();
  });

  // --- The side bar as a sheet on phones

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && location.hash === "#nav") location.hash = "";
  });

  // --- Toasts

  function icon(name) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.classList.add("icon");
    svg.setAttribute("aria-hidden", "true");
    svg.append(document.createElementNS("http://www.w3.org/2000/svg", "use"));
    svg.firstChild.setAttribute("href", `#i-${name}`);
    return svg;
  }

  function paragraph(text) {
    const p = document.createElement("p");
    p.textContent = text;
    return p;
  }

  function finish(toast) {
    const close = document.createElement("button");
    close.className = "button bare square compact";
    close.setAttribute("aria-label", "Dismiss");
    close.append(icon("close"));
    close.addEventListener("click", () => toast.remove());
    toast.append(close);
    const lasts = toast.querySelector("[data-undo]") ? UNDO_MS : TOAST_MS;
    if (!toast.classList.contains("error")) setTimeout(() => toast.remove(), lasts);
  }

  function undoButton(trace, toast) {
    const button = document.createElement("button");
    button.className = "button compact";
    button.dataset.undo = "";
    button.textContent = "Undo";
    button.addEventListener("click", () => {
      const csrfmiddlewaretoken = document.querySelector("[name=csrfmiddlewaretoken]").value;
      const address = `${document.body.dataset.root}undo/`;
      htmx.ajax("POST", address, { source: document.body, swap: "none", values: { csrfmiddlewaretoken, trace } });
      toast.remove();
    });
    return button;
  }

  function say({ text, hint, error, undo }) {
    const toast = document.createElement("div");
    toast.className = error ? "toast error" : "toast";
    const words = document.createElement("div");
    words.append(paragraph(text));
    if (hint) words.append(paragraph(hint));
    toast.append(icon(error ? "alert" : "check"), words);
    if (undo) toast.append(undoButton(undo, toast));
    finish(toast);
    document.getElementById("toasts").append(toast);
  }

  document.querySelectorAll("[data-toast]").forEach(finish);
  document.addEventListener("trimus:toast", (event) => say(event.detail));
  // What a page asks by itself, it asks again by itself (live.js).
  const isOwnAccord = (event) => /^(trimus:|load$)/.test(event.detail.ctx?.sourceEvent?.type);

  document.addEventListener("htmx:error", (event) => {
    if (isOwnAccord(event)) return;
    say({ text: "The server did not answer.", hint: "Nothing was lost. Try again.", error: true });
  });
  document.addEventListener("htmx:response:error", (event) => {
    const response = event.detail.ctx.response;
    if (isOwnAccord(event) || response.headers.get("HX-Trigger")) return; // the latter says itself what was wrong
    const hint = "What you wrote is still here. Try again; if it stays so, load the page again.";
    say({ text: `That did not work (${response.status}).`, hint, error: true });
  });

  // --- Links whose answer can be copied. A browser that lends no clipboard (it wants https) opens them instead.

  async function answerOf(address) {
    const answer = await fetch(address, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(answer.statusText);
    return new Blob([JSON.stringify(await answer.json(), null, 2)], { type: "text/plain" });
  }

  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-copy]");
    if (!link || !navigator.clipboard || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    try {
      // The promise goes in, not its value: some browsers lend the clipboard only at the click itself.
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": answerOf(link.href) })]);
      say({ text: link.dataset.copy });
    } catch {
      location.assign(link.href);
    }
  });

  // --- Times

  const zoned = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "long" });
  const MINUTE = 60;
  const HOUR = 60 * MINUTE;
  const DAY = 24 * HOUR;

  function howLongAgo(seconds) {
    if (seconds < 45) return "just now";
    if (seconds < HOUR) return `${Math.max(1, Math.round(seconds / MINUTE))} min ago`;
    if (seconds < DAY) return `${Math.round(seconds / HOUR)} h ago`;
    return `${Math.round(seconds / DAY)} d ago`;
  }

  function refreshTimes(root = document) {
    for (const time of root.querySelectorAll("time[data-ago]")) {
      const moment = new Date(time.dateTime);
      const seconds = (Date.now() - moment) / 1000;
      if (seconds < 7 * DAY) time.textContent = howLongAgo(seconds);
      time.title = zoned.format(moment);
    }
  }

  setInterval(refreshTimes, AGO_MS);
  document.addEventListener("htmx:after:swap", () => refreshTimes());
  refreshTimes();

  // --- Forms

  document.addEventListener("change", (event) => {
    if (event.target.form?.matches("[data-autosubmit]")) sendFilters(event.target.form);
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-autosubmit]")) return;
    event.preventDefault();
    sendFilters(event.target);
  });

  // Filters that are empty stay out of the address, so that it can be read and shared.
  function sendFilters(form) {
    const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    location.assign(`${form.action.split("?")[0]}?${chosen}`);
  }
})();
