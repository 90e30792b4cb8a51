// The scoreboard: two tabs, a filter, and rows that open where a link points. Without this script all rows are there,
// one part below the other, and open by themselves.
(() => {
  const box = document.querySelector(".romae-board");
  const sections = [...box.querySelectorAll("section[data-tab]")];
  const rows = [...box.querySelectorAll(".row")];
  const make = (name, properties, ...children) => {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  };

  // Tabs
  const tabs = sections.map((section, i) => {
    section.id ||= `romae-tab-${i}`;
    section.setAttribute("role", "tabpanel");
    const tab = make("button", { type: "button", textContent: section.dataset.tab, id: `${section.id}-label` });
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", section.id);
    section.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => turn(i));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      turn((i + step + tabs.length) % tabs.length);
      tabs.find((other) => other.getAttribute("aria-selected") === "true").focus();
    });
    return tab;
  });
  const list = make("div", {}, ...tabs);
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Parts of the scoreboard");

  function turn(to) {
    sections.forEach((section, i) => (section.hidden = i !== to));
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", i === to);
      tab.tabIndex = i === to ? 0 : -1;
    });
    part.parentElement.hidden = to !== 0;
    const here = rows.filter((row) => !row.closest("section").hidden);
    outcome.replaceChildren(...["all", ...new Set(here.flatMap(outcomes))].map((name) => new Option(name)));
    show();
  }

  // Filter
  const choice = (name, options) => {
    const select = make("select", {});
    ["all", ...options].forEach((option) => select.add(new Option(option)));
    select.addEventListener("input", show);
    return [select, make("label", {}, name, select)];
  };
  // A claim has an outcome, and so has every number in it: either is found.
  const outcomes = (row) => [row, ...row.querySelectorAll("[data-outcome]")].map((node) => node.dataset.outcome);
  const [part, partLabel] = choice("Part of the paper", [...new Set(rows.map((row) => row.dataset.part).filter(Boolean))]);
  const [outcome, outcomeLabel] = choice("Outcome, of a claim or a number in it", []);
  const open = make("button", { type: "button", textContent: "Open all" });
  open.addEventListener("click", () => {
    const opening = open.textContent === "Open all";
    rows.filter((row) => !row.hidden).forEach((row) => (row.open = opening));
    open.textContent = opening ? "Close all" : "Open all";
  });
  const count = make("output", {});
  const tools = make("form", { className: "romae-tools" }, list, partLabel, outcomeLabel, open, count);
  tools.addEventListener("submit", (event) => event.preventDefault());
  box.insertBefore(tools, sections[0]);
  box.classList.add("scripted");

  function show() {
    const here = rows.filter((row) => !row.closest("section").hidden);
    for (const row of here) {
      const fits = (select, values) => select.value === "all" || values.includes(select.value);
      row.hidden = !(fits(part, [row.dataset.part ?? part.value]) && fits(outcome, outcomes(row)));
    }
    for (const group of box.querySelectorAll(".group")) {
      let next = group.nextElementSibling, any = false;
      for (; next?.matches(".row"); next = next.nextElementSibling) any ||= !next.hidden;
      group.hidden = !any;
    }
    count.textContent = `${here.filter((row) => !row.hidden).length} of ${here.length} rows`;
  }

  // A link into a closed row
  function follow() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target || !box.contains(target)) return;
    const section = target.closest("section");
    if (section) turn(sections.indexOf(section));
    part.value = outcome.value = "all";
    show();
    for (let node = target; node && node !== box; node = node.parentElement) if (node.matches("details")) node.open = true;
    target.scrollIntoView({ block: "center" });
  }
  addEventListener("hashchange", follow);
  turn(0);
  follow();
})();
