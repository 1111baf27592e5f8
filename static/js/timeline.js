// Earlier entries are put in above what is being read: that stays where it is on the screen. Who works by keys stays at
// the gap instead, which has the focus, as long as one is left.
(() => {
  "use strict";

  let held = null;

  const topOf = (element) => element.getBoundingClientRect().top;
  const isGap = (element) => element?.id === "gap";

  document.addEventListener("htmx:before:swap", ({ detail }) => {
    const gap = detail.ctx.target;
    held = null;
    if (!isGap(gap)) return;
    const byKeys = gap.querySelector(":focus-visible") !== null;
    held = { next: gap.nextElementSibling, nextTop: topOf(gap.nextElementSibling), gapTop: byKeys ? topOf(gap) : null };
  });

  document.addEventListener("htmx:after:swap", () => {
    if (!held) return;
    const { next, nextTop, gapTop } = held;
    held = null;
    const gap = document.getElementById("gap");
    const place = gap.hidden ? gap.nextElementSibling : gap;
    (place.querySelector("a") ?? next.querySelector("a"))?.focus({ preventScroll: true });
    window.scrollBy(0, gapTop === null ? topOf(next) - nextTop : topOf(place) - gapTop);
  });
})();
