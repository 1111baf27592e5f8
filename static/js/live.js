// Keeps what a page shows true: listens for changes and fetches anew the regions that they concern.
//
// A region is an element with data-live (what it shows) that htmx can fetch by itself. Changes come as ids over one
// event stream while the tab is seen, or by asking now and then where no stream can be held.
(() => {
  "use strict";

  const SETTLE_MS = 200; // changes come in bursts
  const REST_MS = 1000; // between two fetches of one region
  const SILENCE_MS = 40000; // the server pings every 15 s
  const POLL_MS = 5000;
  const RETRY_STREAM_MS = 60000;
  const FAILURES_BEFORE_POLLING = 4;
  const HELD = ".dragged, .lifted";

  const root = document.body.dataset.root;
  if (!root) return;

  let last = Number(document.body.dataset.after) || 0;
  let source = null;
  let failures = 0;
  let watchdog = null;
  let polling = null;
  let retry = null;

  // --- Which regions a change concerns

  const begins = (kind, ...starts) => starts.some((start) => kind.startsWith(start));

  const CONCERNS = {
    issues: (change) => change.issue !== null,
    issue: (change, region) =>
      String(change.issue) === region.dataset.issue || begins(change.kind, "issue.status", "issue.created"),
    run: (change, region) =>
      String(change.run) === region.dataset.run || String(change.issue) === region.dataset.issue,
    runs: (change) => begins(change.kind, "run."),
    agents: (change) => begins(change.kind, "agent.", "run.", "issue.assigned", "issue.status"),
    agent: (change) => begins(change.kind, "agent.", "run.", "issue.assigned", "issue.status"),
    approvals: (change) => begins(change.kind, "approval."),
    inbox: (change) => begins(change.kind, "approval.", "comment.", "issue.status", "wakeup.", "guard.", "run.ended"),
    activity: () => true,
  };

  const SIDE = ["run.", "approval.", "comment.written", "issue.status", "wakeup.", "guard."];

  function regions() {
    return document.querySelectorAll("[data-live]");
  }

  function take(change) {
    last = Math.max(last, change.id);
    for (const region of regions()) {
      const known = Number(region.dataset.after) || 0;
      if ((change.late || change.id > known) && CONCERNS[region.dataset.live](change, region)) refresh(region);
    }
    if (begins(change.kind, ...SIDE)) refreshSide();
  }

  // --- Fetching anew, without taking anything out of the reader's hands

  const waiting = new WeakMap();

  function refresh(region, wait = SETTLE_MS) {
    if (waiting.has(region)) return;
    const rest = (region.lastFetched ?? 0) + REST_MS - Date.now();
    waiting.set(region, setTimeout(() => fetchAnew(region), Math.max(wait, rest)));
  }

  function fetchAnew(region) {
    waiting.delete(region);
    if (!region.isConnected) return;
    if (isInUse(region)) {
      refresh(region, REST_MS);
      return;
    }
    region.lastFetched = Date.now();
    htmx.trigger(region, "trimus:refresh");
  }

  // What could not be fetched is asked for again, however long the server is away.
  function askAgain({ target, detail }) {
    if (!detail.ctx?.sourceEvent?.type?.startsWith("trimus:")) return;
    if (target.matches?.("[data-live]")) refresh(target, POLL_MS);
    else refreshSide(POLL_MS);
  }

  document.addEventListener("htmx:error", askAgain);
  document.addEventListener("htmx:response:error", (event) => {
    if (event.detail.ctx.response.status >= 500) askAgain(event);
  });

  // Columns that come while a card is in the hand are fetched again afterwards.
  document.addEventListener("htmx:before:swap", (event) => {
    const { target } = event.detail.ctx;
    if (!target?.matches?.("[data-live]") || !target.querySelector(HELD)) return;
    event.preventDefault();
    refresh(target, REST_MS);
  });

  function isInUse(region) {
    return region.querySelector(`details.menu[open], ${HELD}`) !== null;
  }

  let sideTimer = null;

  function refreshSide(wait = 2 * SETTLE_MS) {
    sideTimer ??= setTimeout(() => {
      sideTimer = null;
      htmx.trigger(document.body, "trimus:side");
    }, wait);
  }

  function refreshAll() {
    regions().forEach((region) => refresh(region));
    refreshSide();
  }

  // --- The stream

  function open() {
    if (source || document.hidden) return;
    source = new EventSource(`${root}events/?after=${last}`);
    source.addEventListener("open", () => {
      failures = 0;
      loggedOut.hidden = true;
      stopPolling();
      show(true);
      watch();
    });
    source.addEventListener("change", (event) => {
      watch();
      take({ id: Number(event.lastEventId), ...JSON.parse(event.data) });
    });
    source.addEventListener("reset", (event) => {
      last = Number(event.lastEventId);
      refreshAll();
    });
    source.addEventListener("ping", watch);
    source.addEventListener("bye", () => location.reload());
    source.addEventListener("error", fail);
  }

  function close() {
    clearTimeout(watchdog);
    source?.close();
    source = null;
  }

  function fail() {
    failures += 1;
    show(false);
    if (source?.readyState === EventSource.CLOSED || failures >= FAILURES_BEFORE_POLLING) {
      close();
      startPolling();
    }
  }

  function watch() {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => {
      close();
      open();
    }, SILENCE_MS);
  }

  // --- Asking now and then

  function startPolling() {
    if (polling) return;
    polling = setInterval(ask, POLL_MS);
    retry = setTimeout(() => {
      stopPolling();
      failures = 0;
      open();
    }, RETRY_STREAM_MS);
    ask();
  }

  function stopPolling() {
    clearInterval(polling);
    clearTimeout(retry);
    polling = null;
  }

  async function ask() {
    if (document.hidden) return;
    try {
      const answer = await fetch(`${root}changes/?after=${last}`, { headers: { "HX-Request": "true" } });
      if (answer.status === 401) return leave();
      if (!answer.ok) throw new Error(answer.status);
      const news = await answer.json();
      show(true);
      if (news.reset) refreshAll();
      news.changes.forEach(take);
      last = news.after;
    } catch {
      show(false);
    }
  }

  // --- "You are logged out", in this tab or in another: until the reader comes back to it, nothing more is asked.

  const loggedOut = document.getElementById("logged-out");

  function leave() {
    loggedOut.hidden = false;
    show(true);
    close();
    stopPolling();
  }

  document.addEventListener("htmx:response:error", ({ detail: { ctx } }) => ctx.response.status === 401 && leave());
  window.addEventListener("focus", open);

  // --- "Reconnecting…"

  const notice = document.getElementById("connection");
  let noticeTimer = null;

  function show(connected) {
    clearTimeout(noticeTimer);
    if (connected) notice.hidden = true;
    else noticeTimer = setTimeout(() => (notice.hidden = document.hidden), 1500);
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", (event) => {
    // A page that comes back from the browser's memory shows what was true when it was left.
    if (event.persisted) refreshAll();
    open();
  });
  open();
})();
