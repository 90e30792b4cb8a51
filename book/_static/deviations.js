// The table of deviations: columns that sort, and a filter. Without this script it is the plain table.
(() => {
  const box = document.querySelector(".romae-deviations");
  const body = box.querySelector("tbody");
  const rows = [...body.rows];
  const text = (row, column) => row.cells[column].textContent.trim();
  const number = (row) => Number(text(row, 0).match(/\d+/));

  const CHAPTERS = 2, EFFECT = 3;
  const order = { yes: 0, unknown: 1, no: 2 };
  const heads = [...box.querySelectorAll("thead th")];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
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
    }
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
  }
  show();
})();
