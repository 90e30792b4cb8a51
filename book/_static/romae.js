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
    };
    script.onerror = () => node.classList.add("romae-lost");
    document.head.append(script);
  };
  const near = new IntersectionObserver(entries => entries.filter(e => e.isIntersecting).forEach(e => bring(e.target)), { rootMargin: "1200px" });
  const asked = () => {
    const name = decodeURIComponent(location.hash.slice(1)).split(":")[0];
    const figure = name && document.querySelector(`[data-explorable="${CSS.escape(name)}"][data-later]`);
    if (figure) bring(figure);
  };
  const start = () => {
    document.querySelectorAll("[data-later]").forEach(node => near.observe(node));
    asked();
    addEventListener("hashchange", asked);
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
  else start();
})();
