// The table of deviations: columns that sort, a filter, and rows that open to the whole entry, which stands further down
// on the page, folded. Without this script it is the plain table, whose numbers lead to entries in full.
(() => {
  const box = document.querySelector(".romae-deviations");
  const body = box.querySelector("tbody");
  const rows = [...body.rows];
  const text = (row, column) => row.cells[column].textContent.trim();
  const number = (row) => Number(text(row, 0).match(/\d+/));

  // A row's number opens the entry below it: a copy of the text that the link leads to.
  const opened = new Map(); // row -> the row below it
  const close = (row) => {
    if (!opened.has(row)) return;
    opened.get(row).remove();
    opened.delete(row);
    row.querySelector("th a").setAttribute("aria-expanded", "false");
  };
  for (const row of rows) {
    const link = row.querySelector("th a");
    const entry = document.getElementById(link.hash.slice(1));
    const texts = (entry?.closest("section") ?? entry?.nextElementSibling)?.querySelectorAll(":scope > dl") ?? [];
    if (!texts.length) continue;
    link.setAttribute("role", "button");
    link.setAttribute("aria-expanded", "false");
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // as a link
      event.preventDefault();
      if (opened.has(row)) return close(row);
      const below = document.createElement("tr"), cell = below.insertCell(), place = document.createElement("a");
      below.className = "whole";
      cell.colSpan = row.cells.length;
      cell.append(...[...texts].map((text) => text.cloneNode(true)));
      cell.querySelectorAll("[id]").forEach((part) => part.removeAttribute("id"));
      place.href = link.hash;
      place.textContent = `${link.textContent} on this page`;
      cell.append(place);
      row.after(below);
      opened.set(row, below);
      link.setAttribute("aria-expanded", "true");
    });
    link.addEventListener("keydown", (event) => {
      if (event.key === " ") { event.preventDefault(); link.click(); }
    });
  }

  const CHAPTERS = 2, EFFECT = 3;
  const order = { yes: 0, unknown: 1, no: 2 };
  const heads = [...box.querySelectorAll("thead th")];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      [...opened.keys()].forEach(close);
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const compare = (a, b) =>
        column === 0 ? number(a) - number(b)
        : column === heads.length - 1 ? order[a.dataset.answer] - order[b.dataset.answer] || number(a) - number(b)
        : text(a, column).localeCompare(text(b, column)) || number(a) - number(b);
      body.append(...rows.sort((a, b) => (up ? 1 : -1) * compare(a, b)));
    });
  });

  // The entries in full, which the rows open to as well: folded until somebody asks for one, searches or prints.
  const parts = [...new Set(rows.map((row) => {
    const entry = document.getElementById(row.querySelector("th a").hash.slice(1));
    return entry?.closest("section")?.parentElement.closest("section");
  }))].filter((part) => part && !part.contains(box));
  if (parts.length) {
    const all = document.createElement("button");
    all.type = "button";
    all.className = "all";
    all.textContent = "All entries in full, one after the other";
    const unfold = () => { parts.forEach((part) => part.removeAttribute("hidden")); all.remove(); };
    const asked = () => {
      const target = location.hash && document.getElementById(location.hash.slice(1));
      if (!target || !parts.some((part) => part.contains(target))) return;
      unfold();
      target.scrollIntoView();
    };
    parts.forEach((part) => {
      part.setAttribute("hidden", "until-found"); // a search in the page finds what is inside
      part.addEventListener("beforematch", unfold);
    });
    all.addEventListener("click", unfold);
    addEventListener("hashchange", asked);
    addEventListener("beforeprint", unfold);
    box.after(all);
    asked();
  }

  const form = document.createElement("form");
  const field = (name, control) => {
    const label = document.createElement("label");
    label.append(name, control);
    form.append(label);
    control.addEventListener("input", show);
    return control;
  };
  const choice = (...names) => {
    const select = document.createElement("select");
    names.forEach((name) => select.add(new Option(name)));
    return select;
  };
  const chapters = new Set(rows.flatMap((row) => text(row, CHAPTERS).match(/\d+/g) ?? []));
  const word = field("Search", Object.assign(document.createElement("input"), { type: "search" }));
  const chapter = field("Chapter", choice("all", ...[...chapters].sort()));
  const answer = field("Could it flip an outcome?", choice("all", "yes", "unknown", "no"));
  const effect = field("Effect", choice("all", "not measured", "other"));
  const count = document.createElement("output");
  form.append(count);
  form.addEventListener("submit", (event) => event.preventDefault());
  box.prepend(form);

  function show() {
    for (const row of rows) {
      const measured = /^not measured/.test(text(row, EFFECT)) ? "not measured" : "other";
      row.hidden =
        !row.textContent.toLowerCase().includes(word.value.toLowerCase().trim()) ||
        (chapter.value !== "all" && !text(row, CHAPTERS).split(", ").includes(chapter.value)) ||
        ![row.dataset.answer, "all"].includes(answer.value) ||
        ![measured, "all"].includes(effect.value);
      if (row.hidden) close(row);
    }
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
  }
  show();
})();
