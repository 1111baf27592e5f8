// Writing: drafts that survive, whom a comment wakes, a preview, and names that complete themselves.
(() => {
  "use strict";

  const WAKES_MS = 350;
  const COMPLETE_MS = 120;
  const DRAFT = "trimus-draft:";
  const SENT = "trimus-sent";

  const csrf = () => document.querySelector("[name=csrfmiddlewaretoken]").value;

  // --- Drafts: kept until the server said that it has the text

  const { root, who } = document.body.dataset;
  const keyOf = (form) => `${DRAFT}${root}${who}:${form.dataset.composer}`; // of this person alone

  function keep(form) {
    const text = form.querySelector("[data-text]").value;
    const base = form.querySelector("[data-text]").defaultValue; // what the writer began with
    if (text.trim()) localStorage.setItem(keyOf(form), JSON.stringify({ text, base }));
    else localStorage.removeItem(keyOf(form));
  }

  function restore(form) {
    const field = form.querySelector("[data-text]");
    const draft = JSON.parse(localStorage.getItem(keyOf(form)) ?? "null");
    if (!draft || draft.text === field.value || (field.defaultValue && !draft.text)) return;
    field.value = draft.text;
    const seen = form.querySelector(`[name=seen_${field.name}]`);
    if (seen && draft.base !== undefined) seen.value = draft.base; // so that what was changed since is not lost
  }

  function begin(form) {
    if (form.hasBegun) return;
    form.hasBegun = true;
    if (!("sent" in form.dataset)) restore(form); // else it shows what was sent
    if (form.dataset.wakes && form.querySelector("[data-text]").value) showWakes(form);
  }

  document.addEventListener("htmx:after:swap", () => document.querySelectorAll("[data-composer]").forEach(begin));
  document.addEventListener("click", (event) => {
    const form = event.target.closest("[data-discard]")?.closest("[data-composer]");
    if (form) localStorage.removeItem(keyOf(form));
  });

  // A form that was sent the ordinary way has arrived when the page that comes next in this tab says so.
  function forgetArrived() {
    const key = sessionStorage.getItem(SENT);
    sessionStorage.removeItem(SENT);
    if (key && document.querySelector(".toast:not(.error)")) localStorage.removeItem(key);
  }

  document.addEventListener("submit", ({ target: form }) => {
    if (form.dataset.composer && !form.hasAttribute("hx-post")) sessionStorage.setItem(SENT, keyOf(form));
  });

  const plain = (text) => text.replace(/\r\n/g, "\n");

  document.addEventListener("htmx:after:request", (event) => {
    const form = event.target.closest?.("[data-composer]");
    const { request, response } = event.detail.ctx;
    if (!form || request.method !== "POST" || response.status !== 204) return;
    const field = form.querySelector("[data-text]");
    if ("editing" in form.dataset) {
      localStorage.removeItem(keyOf(form));
      delete form.dataset.editing; // the text comes back in its place
      document.querySelector('[data-key="e"]')?.focus();
      return;
    }
    // What was typed while it was on its way stays.
    const sent = plain(request.body.get(field.name));
    if (plain(field.value).startsWith(sent)) field.value = plain(field.value).slice(sent.length).trimStart();
    keep(form);
    if (!form.dataset.wakes) return;
    showPreview(form, false);
    form.querySelectorAll("[name=without]").forEach((input) => input.remove());
    showWakes(form);
  });

  // --- Whom it wakes

  let wakesTimer = null;

  function withoutOf(form) {
    return [...form.querySelectorAll("[name=without]")].map((input) => input.value);
  }

  async function post(address, values) {
    const body = new URLSearchParams([["csrfmiddlewaretoken", csrf()], ...values]);
    const answer = await fetch(address, { method: "POST", body, headers: { "HX-Request": "true" } });
    if (!answer.ok) throw new Error(answer.status);
    return answer.text();
  }

  async function showWakes(form) {
    const text = form.querySelector("[data-text]").value;
    const values = [["body", text], ...withoutOf(form).map((handle) => ["without", handle])];
    const place = form.querySelector("[data-wakes-place]");
    form.wakesOfNothing ??= place.innerHTML;
    if (!text.trim()) {
      place.innerHTML = form.wakesOfNothing;
      return;
    }
    try {
      const told = await post(form.dataset.wakes, values);
      if (form.querySelector("[data-text]").value === text) place.innerHTML = told; // else more was typed meanwhile
    } catch {
      place.textContent = "Whom this wakes cannot be told just now.";
    }
  }

  document.addEventListener("change", (event) => {
    const handle = event.target.dataset?.without;
    if (!handle) return;
    const form = event.target.closest("[data-wakes]");
    form.querySelectorAll("[name=without]").forEach((input) => input.value === handle && input.remove());
    if (event.target.checked) return;
    const input = Object.assign(document.createElement("input"), { type: "hidden", name: "without", value: handle });
    (form.querySelector("[data-left-out]") ?? form).append(input);
  });

  // --- Preview

  async function showPreview(form, on) {
    const field = form.querySelector("[data-text]");
    const place = form.querySelector("[data-preview-place]");
    const button = form.querySelector("[data-toggle-preview]");
    try {
      if (on) place.innerHTML = await post(form.dataset.preview, [["body", field.value]]);
    } catch {
      place.textContent = "The preview cannot be made just now.";
    }
    place.hidden = !on;
    field.hidden = on;
    button.lastChild.textContent = on ? "Write" : "Preview";
    if (!on && document.activeElement === button) field.focus();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-toggle-preview]");
    if (!button) return;
    const form = button.closest("form");
    showPreview(form, form.querySelector("[data-preview-place]").hidden);
  });

  // --- Completion of @names and #issues

  let list = null;
  let completeTimer = null;

  function wordBefore(field) {
    const found = /(^|[\s(])([@#])([\w.-]{0,40})$/.exec(field.value.slice(0, field.selectionStart));
    return found && { of: found[2] === "@" ? "people" : "issues", word: found[3], length: found[3].length + 1 };
  }

  async function offered(address) {
    try {
      const answer = await fetch(address, { headers: { "HX-Request": "true" } });
      return answer.ok ? (await answer.text()).trim() : "";
    } catch {
      return ""; // without the server nothing is offered
    }
  }

  async function complete(field) {
    const before = wordBefore(field);
    const form = field.closest("[data-complete]");
    if (!before || !form) return closeList();
    const query = new URLSearchParams({ of: before.of, q: before.word });
    const options = await offered(`${form.dataset.complete}?${query}`);
    if (wordBefore(field)?.word !== before.word) return; // more was typed meanwhile
    if (!options || document.activeElement !== field) return closeList();
    openList(field, options);
  }

  function openList(field, options) {
    closeList();
    list = document.createElement("div");
    list.className = "completion";
    list.id = "completion";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Suggestions");
    list.innerHTML = options;
    [...list.children].forEach((option, index) => (option.id = `completion-${index}`));
    list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      choose(field, event.target.closest("[role=option]"));
    });
    field.closest(".composer-place").append(list);
    field.setAttribute("aria-controls", list.id);
    mark(field, 0);
  }

  function closeList() {
    list?.remove();
    list = null;
    for (const field of document.querySelectorAll("[aria-activedescendant]")) {
      field.removeAttribute("aria-activedescendant");
      field.removeAttribute("aria-controls");
    }
  }

  function mark(field, index) {
    [...list.children].forEach((option, at) => option.setAttribute("aria-selected", String(at === index)));
    field.setAttribute("aria-activedescendant", list.children[index].id);
  }

  function choose(field, option) {
    const before = wordBefore(field);
    if (option && before) {
      const at = field.selectionStart;
      field.setRangeText(`${option.dataset.insert} `, at - before.length, at, "end");
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    closeList();
  }

  document.addEventListener("keydown", (event) => {
    if (!list || !event.target.matches("[data-text]")) return;
    const options = [...list.children];
    const here = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
    if (event.key === "ArrowDown") mark(event.target, (here + 1) % options.length);
    else if (event.key === "ArrowUp") mark(event.target, (here - 1 + options.length) % options.length);
    else if (event.key === "Enter" || event.key === "Tab") choose(event.target, options[here]);
    else if (event.key === "Escape") closeList();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });

  document.addEventListener("focusout", (event) => event.target.matches?.("[data-text]") && closeList());

  // --- Start

  document.addEventListener("input", (event) => {
    const field = event.target;
    if (!field.matches("[data-text]")) return;
    const form = field.closest("[data-composer]");
    keep(form);
    clearTimeout(completeTimer);
    completeTimer = setTimeout(() => complete(field), COMPLETE_MS);
    if (!form.dataset.wakes) return;
    clearTimeout(wakesTimer);
    wakesTimer = setTimeout(() => showWakes(form), WAKES_MS);
  });

  forgetArrived();
  document.querySelectorAll("[data-composer]").forEach(begin);
})();
