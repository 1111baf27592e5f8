// Ctrl K: one field that finds issues and does what the page at hand can do.
//
// It knows no command of its own: pages, menus and buttons that stand in the page are the commands.
(() => {
  "use strict";

  const FIND_MS = 120;
  const MOST = 8; // commands beside issues, once something is typed

  const dialog = document.getElementById("palette");
  if (!dialog) return;
  const field = dialog.querySelector("input");
  const list = dialog.querySelector("[role=listbox]");
  const atHand = dialog.querySelector("[data-at-hand]");
  const root = document.body.dataset.root;
  let commands = [];
  let findTimer = null;

  // What is written there, without figures that stand beside it.
  function wordsOf(element) {
    const words = element.cloneNode(true);
    for (const count of words.querySelectorAll(".count")) count.remove();
    return words.textContent.replace(/\s+/g, " ").trim();
  }

  const all = (selector) => [...document.querySelectorAll(selector)];

  // --- What can be done here

  function command(name, element) {
    return { name, icon: element.querySelector("svg, .avatar"), run: () => element.click() };
  }

  function collect() {
    const groups = [...all(".facts-panel .fact:has([data-menu])"), ...atHand.querySelectorAll("fieldset")];
    const choices = groups.flatMap((group) => {
      const name = wordsOf(group.querySelector("dt, legend"));
      const chosen = group.querySelectorAll(".list button, .choices button");
      return [...chosen].map((button) => command(`${name}: ${wordsOf(button)}`, button));
    });
    return [
      ...all('main form[action$="/heartbeat/"] button, main form[action$="/stop/"] button, .tools [data-key]').map(
        (one) => command(wordsOf(one), one)),
      ...choices,
      ...all('.side [data-key="c"]').map((one) => command("New issue", one)),
      ...all(".side .place").map((one) => command(`Go to ${wordsOf(one)}`, one)),
      ...all('.side [name="theme"]').map((one) => command(`Theme: ${wordsOf(one)}`, one)),
      ...all('[data-opens="shortcuts"]').map((one) => command("Keyboard shortcuts", one)),
    ];
  }

  // On the board or in a list, the card that has the focus is at hand.
  async function takeAtHand() {
    atHand.replaceChildren();
    const address = document.activeElement?.closest?.("[data-card], [data-row]")?.querySelector("[data-change]")?.href;
    if (!address) return;
    const answer = await fetch(address, { headers: { "HX-Request": "true" } });
    if (!answer.ok) return;
    atHand.innerHTML = await answer.text();
    atHand.querySelector(".head").remove(); // its name belongs to the dialog of the card
    htmx.process(atHand);
    commands = collect();
    show();
  }

  // --- The list

  function option({ name, icon, run }, index) {
    const row = document.createElement("div");
    row.id = `command-${index}`;
    row.setAttribute("role", "option");
    if (icon) row.append(icon.cloneNode(true));
    row.append(Object.assign(document.createElement("span"), { className: "clip", textContent: name }));
    row.addEventListener("click", () => {
      dialog.close();
      run();
    });
    return row;
  }

  function show(found = []) {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fitting = commands.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
    const search = { name: `Search for “${field.value.trim()}”`, run: () => location.assign(searchAddress()) };
    const rows = words.length ? [...fitting.slice(0, MOST), ...found, search] : fitting;
    list.replaceChildren(...rows.map(option));
    mark(0);
  }

  function mark(index) {
    const rows = [...list.children];
    rows.forEach((row, at) => row.setAttribute("aria-selected", String(at === index)));
    rows[index]?.scrollIntoView({ block: "nearest" });
    if (rows[index]) field.setAttribute("aria-activedescendant", rows[index].id);
    else field.removeAttribute("aria-activedescendant");
  }

  // --- Issues, by number or words

  const searchAddress = () => `${root}search/?${new URLSearchParams({ q: field.value.trim() })}`;

  async function find() {
    const typed = field.value.trim();
    const q = typed.replace(new RegExp(`^(#|${root.slice(1, -1)}-)(?=\\d)`, "i"), "");
    if (!q) return;
    const answer = await fetch(`${root}complete/?${new URLSearchParams({ of: "issues", q })}`, {
      headers: { "HX-Request": "true" },
    });
    if (!answer.ok || field.value.trim() !== typed) return;
    const found = document.createElement("div");
    found.innerHTML = await answer.text();
    show([...found.children].map((row) => ({
      name: [...row.querySelectorAll(":scope > span")].map(wordsOf).join(" "),
      icon: row.querySelector("svg"),
      run: () => location.assign(`${root}issues/${row.dataset.insert}/`),
    })));
  }

  // --- Use

  function open() {
    field.value = "";
    commands = collect();
    takeAtHand();
    dialog.showModal();
    show();
  }

  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else if (!document.querySelector("dialog[open]")) open();
  });

  document.addEventListener("click", (event) => event.target.closest("[data-palette]") && open());

  field.addEventListener("input", () => {
    show();
    clearTimeout(findTimer);
    findTimer = setTimeout(find, FIND_MS);
  });

  field.addEventListener("keydown", (event) => {
    const rows = [...list.children];
    const here = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
    if (event.key === "ArrowDown") mark((here + 1) % rows.length);
    else if (event.key === "ArrowUp") mark((here - 1 + rows.length) % rows.length);
    else if (event.key === "Enter") rows[here]?.click();
    else return;
    event.preventDefault();
  });
})();
