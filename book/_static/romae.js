// Paper is white: print in the light theme, whatever the reader's own.
let theme;
addEventListener("beforeprint", () => {
  theme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
addEventListener("afterprint", () => { document.documentElement.dataset.theme = theme; });

// Large figures stand in files of their own (book/_ext/lighter.py) and are fetched when the reader comes near, or when
// the address asks for one: #name, or #name:state of an interactive figure.
(() => {
  const bring = node => {
    const script = document.createElement("script"), key = node.dataset.drawing;
    near.unobserve(node);
    script.src = node.dataset.later;
    script.onload = () => {
      if (key) node.innerHTML = window.romaeDrawings[key];
      delete node.dataset.later;
      script.remove();
      if (node === wanted()) show(node);
    };
    script.onerror = () => node.classList.add("romae-lost");
    document.head.append(script);
  };
  const near = new IntersectionObserver(entries => entries.filter(e => e.isIntersecting).forEach(e => bring(e.target)), { rootMargin: "1200px" });
  const wanted = () => {
    const [name, state] = location.hash.slice(1).split(/:(.*)/);
    return name && state !== undefined ? document.querySelector(`[data-explorable="${CSS.escape(name)}"]`) : null;
  };
  // A figure that its address opens is put at the middle of the window, or, where it is higher than that, begins below
  // the bar at the top. What comes in above it moves it, so it is put there again until the reader goes elsewhere.
  const show = figure => {
    const place = () => {
      const bar = document.querySelector(".bd-header-article")?.getBoundingClientRect().height ?? 0;
      const fits = figure.getBoundingClientRect().height <= innerHeight - bar;
      figure.scrollIntoView({ block: fits ? "center" : "start", behavior: "instant" });
    };
    const moved = new ResizeObserver(place), stop = () => moved.disconnect();
    moved.observe(document.querySelector(".bd-article"));
    for (const act of ["wheel", "touchstart", "pointerdown", "keydown", "hashchange"]) addEventListener(act, stop, { once: true, passive: true });
    setTimeout(stop, 4000);
  };
  const asked = () => {
    const figure = wanted() ?? document.querySelector(`[data-explorable="${CSS.escape(location.hash.slice(1))}"][data-later]`);
    if (figure?.dataset.later) bring(figure);
    else if (wanted()) setTimeout(() => { if (wanted()) show(wanted()); });  // once the figure has put itself there
  };
  const start = () => {
    document.querySelectorAll("[data-later]").forEach(node => near.observe(node));
    asked();
    addEventListener("hashchange", asked);
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
  else start();
})();

// What the theme leaves to be mended for screen readers and the keyboard; tests/test_browser.py asks axe-core.
(() => {
  const each = (selector, change) => document.querySelectorAll(selector).forEach(change);
  // the theme draws its icons some time after the page has loaded, each with a title of its own
  const hush = button => {
    for (const svg of button.querySelectorAll("svg")) { svg.setAttribute("aria-hidden", "true"); svg.querySelector("title")?.remove(); }
  };
  const mend = () => {
    // a name that differs from what is written on the control cannot be spoken to it
    each(".search-button-field[aria-label], details.hide > summary[aria-label], details > summary[aria-label='Toggle hidden content']", node => node.removeAttribute("aria-label"));
    // Sphinx: a list without items, and a role that ARIA has given up
    each(".citation-list[role=list]", node => node.removeAttribute("role"));
    each(".citation[role=doc-biblioentry]", node => node.removeAttribute("role"));
    each("th:empty", node => { const cell = document.createElement("td"); for (const { name, value } of node.attributes) cell.setAttribute(name, value); node.replaceWith(cell); });
    reach();
  };
  // whatever scrolls sideways is reached by the keyboard; at another width something else does
  const reach = () => each(".bd-article :is(.text_html, .text_html div, .romae-figure, .table-wrapper, .pst-scrollable-table-container, pre, mjx-container)", node => {
    if (node.scrollWidth > node.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(node).overflowX) && !node.closest(".romae-explorable")) node.tabIndex = 0;
  });
  const start = () => {
    // the theme names a list that is not there and so follows every link of the page, a figure's address among them
    document.body.dataset.bsTarget = "nav.page-toc";
    each(".theme-switch-button", button => {
      hush(button);
      new MutationObserver(() => hush(button)).observe(button, { childList: true });
    });
    mend();
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
  else start();
  addEventListener("load", mend);  // what other scripts have put in since
  addEventListener("resize", reach);
})();

// What is wider than its place scrolls. A fade on the side where more is says so; phones show no bar.
(() => {
  const places = "pre, .romae-figure, .wide, .romae-deviations, .table-wrapper, .pst-scrollable-table-container, .text_html, div.math, [style*='overflow-x']";
  const look = box => {
    const style = getComputedStyle(box), room = parseFloat(style.paddingRight) + 3; // a box whose padding alone is cut hides nothing
    const rest = box.scrollWidth - box.clientWidth - room, scrolls = rest > 0 && /auto|scroll/.test(style.overflowX);
    box.classList.toggle("romae-more-right", scrolls && box.scrollLeft < rest);
    box.classList.toggle("romae-more-left", scrolls && box.scrollLeft > 3);
  };
  const watched = new WeakSet();
  const watch = ({ target }) => {
    const box = target.querySelector(":scope > mjx-container") ?? target; // a formula scrolls once it is typeset
    if (!watched.has(box)) box.addEventListener("scroll", () => look(box), { passive: true });
    watched.add(box);
    look(box);
  };
  const start = () => {
    const sizes = new ResizeObserver(entries => entries.forEach(watch));
    document.querySelectorAll(places.split(", ").map(place => `.bd-article ${place}`).join(", ")).forEach(box => sizes.observe(box));
    // the sidebar's arrows are pictures: screen readers get words
    document.querySelectorAll(".bd-links summary").forEach(arrow => arrow.setAttribute("aria-label", "Show the pages under this one"));
    // an option such as --set is not broken after its hyphens
    document.querySelectorAll(".bd-article code .pre, .bd-article figcaption code").forEach(word => {
      if (/^-\S{1,24}$/.test(word.textContent)) word.classList.add("romae-whole");
    });
    // a long name breaks after a dot, a slash or an underscore
    document.querySelectorAll(".bd-article code .pre, .romae-lab code").forEach(word => {
      const parts = word.textContent.split(/(?<=[./_])(?=\w)/);
      if (word.textContent.length > 12 && parts.length > 1 && !word.children.length) word.replaceChildren(...parts.flatMap((part, i) => i ? [document.createElement("wbr"), part] : [part]));
    });
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
  else start();
})();
