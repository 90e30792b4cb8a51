// Lecture: large text, nothing beside it, full screen; arrow keys lead from one heading, figure or listing to the next.
// The button is in the toolbar; ?lecture at the end of an address opens a page so.
(() => {
  const STEPS = "h1, h2, h3, .romae-explorable, .romae-figure, .romae-results, .romae-times, .cell_input, div.math";
  const page = document.documentElement;
  let steps = [], at = 0, sign;
  const count = step => {
    at = Math.max(0, Math.min(steps.length - 1, step));
    sign.textContent = `${at + 1} / ${steps.length} · ← → · Esc`;
  };
  const box = at => steps[at]?.getBoundingClientRect() ?? { top: -Infinity };
  // A figure is shown in the middle, where that does not lead back above the step before it. All at once: the theme
  // scrolls softly, and a second press would come in the middle of the way.
  const show = step => {
    count(step);
    const { top, height } = box(at), room = innerHeight - height;
    const middle = room > 120 && !/^H\d$/.test(steps[at].tagName) && top - room / 2 > box(at - 1).top;
    steps[at].scrollIntoView({ block: middle ? "center" : "start", behavior: "instant" });
  };
  // The step that the address asks for: #name:state of a figure, or a place on the page; -1 where it asks for none.
  const asked = () => {
    const name = decodeURIComponent(location.hash.slice(1).split(":")[0]);
    const node = name && (document.querySelector(`[data-explorable="${CSS.escape(name)}"]`) ?? document.getElementById(name));
    if (!node) return -1;
    const inside = steps.findIndex(step => step.contains(node));
    return inside < 0 ? steps.findIndex(step => node.contains(step) || node.compareDocumentPosition(step) & 4) : inside;
  };
  const follow = () => { if (asked() >= 0) count(asked()); };  // a link on the page: it has scrolled there already
  const end = () => {
    page.classList.remove("romae-lecture");
    sign.remove();
    removeEventListener("keydown", key, true);
    removeEventListener("hashchange", follow);
    document.removeEventListener("fullscreenchange", leave);
    if (document.fullscreenElement) document.exitFullscreen();
  };
  // A figure that leads through steps of its own goes through them before the page goes on: what has data-steps has a
  // child for each, which answers a click, and says in aria-valuenow which one is shown.
  const led = way => {
    const bar = steps[at].querySelector("[data-steps]"), to = bar?.children[+bar.getAttribute("aria-valuenow") + way];
    to?.click();
    return Boolean(to);
  };
  const leave = () => { if (!document.fullscreenElement) end(); };  // in full screen Escape is the browser's own
  const key = event => {
    const owner = event.target.closest?.("input, select, textarea, .romae-live");
    if (owner && !owner.querySelector("[data-steps]")) return;  // a figure's own keys are its own
    const way = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
    if (event.key === "Escape") end();
    else if (way) {
      event.preventDefault();
      event.stopPropagation();
      if (!led(way)) show(at + way);
    }
  };
  const begin = () => {
    if (page.classList.contains("romae-lecture")) return;
    page.classList.add("romae-lecture");
    document.addEventListener("fullscreenchange", leave);
    page.requestFullscreen?.().catch(() => {});
    sign = document.body.appendChild(document.createElement("div"));
    sign.className = "romae-lecture-sign";
    sign.setAttribute("role", "status");
    // what lies inside another step is shown with it; what is folded or hidden is none
    steps = [...document.querySelectorAll(`.bd-article :is(${STEPS})`)]
      .filter(node => node.checkVisibility() && !node.parentElement.closest(STEPS));
    addEventListener("keydown", key, true);
    addEventListener("hashchange", follow);
    show(Math.max(0, asked()));
  };
  const start = () => {
    const bar = document.querySelector(".article-header-buttons");
    if (!bar) return;
    const button = document.createElement("button");
    button.className = "btn btn-sm nav-link pst-navbar-icon romae-lecture-button";
    button.title = "Lecture: large text, arrow keys";
    button.setAttribute("aria-label", button.title);
    button.innerHTML = '<svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true"><path d="M1 2h14v9H1zM8 11v3M5 14h6" fill="none" stroke="currentColor" stroke-width="1.6"/></svg>';
    button.addEventListener("click", begin);
    bar.append(button);
    if (new URLSearchParams(location.search).has("lecture")) begin();
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
  else start();
})();
