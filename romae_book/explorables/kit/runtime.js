// Shared by all explorables: elements, scales, controls, dragging, colour scheme. No globals: every figure carries a
// copy.
const kit = {
  reduced: matchMedia("(prefers-reduced-motion: reduce)"),

  // --- elements -----------------------------------------------------------------------------------------------------
  el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    return kit.fill(node, attributes, children);
  },
  svg(tag, attributes = {}, ...children) {
    return kit.fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  },
  fill(node, attributes, children) {
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value !== undefined && value !== null) node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  },
  set(node, attributes) { return kit.fill(node, attributes, []); },
  text(x, y, content, attributes = {}) { return kit.svg("text", {x, y, ...attributes}, content); },
  path: points => points.length ? "M" + points.map(([x, y]) => x.toFixed(2) + " " + y.toFixed(2)).join("L") : "",

  // --- scales -------------------------------------------------------------------------------------------------------
  linear([d0, d1], [r0, r1]) {
    const scale = v => r0 + (v - d0) / (d1 - d0) * (r1 - r0);
    scale.invert = r => d0 + (r - r0) / (r1 - r0) * (d1 - d0);
    scale.ticks = count => kit.ticks(d0, d1, count);
    return scale;
  },
  log([d0, d1], range) {
    const inner = kit.linear([Math.log(d0), Math.log(d1)], range), decades = Math.log10(d1 / d0);
    const scale = v => inner(Math.log(Math.max(v, 1e-300)));
    scale.invert = r => Math.exp(inner.invert(r));
    scale.ticks = () => {  // 1, 2, 5 of every decade, or fewer where there are many
      const digits = decades > 3.5 ? [1] : decades > 1.3 ? [1, 3] : [1, 2, 5], out = [];
      for (let e = Math.floor(Math.log10(d0)); e <= Math.log10(d1); e++) out.push(...digits.map(d => +`${d}e${e}`));
      return out.filter(v => v >= d0 * (1 - 1e-9) && v <= d1 * (1 + 1e-9));
    };
    return scale;
  },
  clamp: (v, low, high) => Math.min(high, Math.max(low, v)),
  // Round numbers between low and high, about `count` of them.
  ticks(low, high, count = 5) {
    const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find(m => m * power >= raw) * power, out = [];
    for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-9; v += step) out.push(+v.toFixed(10));
    return out;
  },

  // --- numbers ------------------------------------------------------------------------------------------------------
  // What a text says as a decimal number, or NaN: no 0x10, nothing beyond what sums and squares can bear.
  number(text) {
    const plain = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text), size = Math.abs(+text);
    return plain && (size > 1e-100 || !/[1-9]/.test(text.split(/e/i)[0])) && size < 1e100 ? +text : NaN;
  },
  // Numbers of a text like 1_2~3_4: rows of `count`, or null where one is none.
  rows(text, count) {
    const found = text.split("~").map(row => row.split("_").map(kit.number));
    return found.every(row => row.length === count && row.every(Number.isFinite)) ? found : null;
  },
  // Radians per unit of position of each pair of channels, as `romae_lite.rope.frequencies` has it.
  frequencies(dim, p, base) {
    const kept = Math.floor(p * dim / 2 + 1e-9);  // 0.7 * 180 / 2 is 62.99999999999999
    return Array.from({length: dim / 2}, (_, i) => i < kept ? base ** (-2 * i / dim) : 0);
  },
  random(seed) {  // mulberry32: uniform numbers in [0, 1), the same ones everywhere
    let s = seed * 0x9E3779B9 >>> 0;
    return () => {
      s = s + 0x6D2B79F5 >>> 0;
      let z = Math.imul(s ^ s >>> 15, s | 1);
      z ^= z + Math.imul(z ^ z >>> 7, z | 61);
      return ((z ^ z >>> 14) >>> 0) / 2 ** 32;
    };
  },

  // --- controls: native inputs, so that keyboard, touch and screen readers work by themselves ------------------------
  slider({label, min, max, step = 1, value, format = String, describe = format, change}) {
    const input = kit.el("input", {type: "range", min, max, step, value}),
      output = kit.el("output", {"aria-hidden": "true"});
    const node = kit.el("label", {class: "romae-slider"}, kit.el("span", {}, label), input, output);
    const show = v => { output.textContent = format(v); input.setAttribute("aria-valuetext", describe(v)); };
    input.addEventListener("input", () => { show(+input.value); change(+input.value); });
    show(value);
    return {node, input, set(v) { input.value = v; show(v); }};
  },
  select({label, options, value, change}) {
    const input = kit.el("select", {}, ...options.map(([v, name]) => kit.el("option", {value: v}, name)));
    input.value = value;
    input.addEventListener("change", () => change(input.value));
    return {node: kit.el("label", {class: "romae-select"}, kit.el("span", {}, label + " "), input), input};
  },
  button(content, attributes, click) {
    return kit.el("button", {type: "button", ...attributes, onclick: click}, ...[content].flat());
  },
  // Something in an SVG that is moved: a slider to the keyboard and to screen readers. `to` gets the new value; `min`
  // and `max` may be functions, where they change.
  handle(node, {label, min, max, step, page = step * 5, value, describe, to}) {
    const now = limit => typeof limit === "function" ? limit() : limit;
    kit.set(node, {role: "slider", tabindex: 0, "aria-label": label});
    const show = v => kit.set(node, {"aria-valuemin": now(min), "aria-valuemax": now(max), "aria-valuenow": v,
      "aria-valuetext": describe(v)});
    node.addEventListener("keydown", event => {
      const at = value(), moves = {ArrowRight: at + step, ArrowUp: at + step, ArrowLeft: at - step,
        ArrowDown: at - step,
        PageUp: at + page, PageDown: at - page, Home: now(min), End: now(max)};
      if (!(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      to(kit.clamp(moves[event.key], now(min), now(max)));
      if (document.activeElement !== node) node.focus({preventScroll: true});  // it was drawn anew
    });
    return show;
  },
  // Pointer drag with capture, mouse and touch alike; coordinates are pixels of `frame`. A finger that goes up or down
  // scrolls the page and changes nothing, so nothing starts before it has gone sideways or is lifted. Where up and down
  // count, the node is `free`: there a finger drags at once and cannot scroll.
  drag(node, frame, {free = false, start = () => {}, move, end = () => {}}) {
    const SIDEWAYS = 6;  // pixels
    let held = null, waiting = null;  // the pointer; where a finger went down that has not started yet
    node.classList.add("romae-drag");
    node.classList.toggle("romae-free", free);
    const at = event => {
      const box = frame.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const begin = () => {
      const place = waiting;
      waiting = null;
      node.classList.add("romae-held");
      if (node.tabIndex >= 0) node.focus({preventScroll: true, focusVisible: false});
      start(...place);
    };
    node.addEventListener("pointerdown", event => {
      if (event.button) return;
      held = event.pointerId;
      waiting = at(event);
      node.setPointerCapture(held);
      if (event.pointerType !== "touch" || node.classList.contains("romae-free")) begin();
      event.preventDefault();
    });
    node.addEventListener("pointermove", event => {
      if (event.pointerId !== held) return;
      const [x, y] = at(event);
      if (waiting && Math.abs(x - waiting[0]) < SIDEWAYS) return;
      if (waiting) begin();
      move(x, y);
    });
    const release = event => {
      if (event.pointerId !== held) return;
      if (waiting && event.type === "pointerup") begin();
      if (!waiting) end();
      held = waiting = null;
      node.classList.remove("romae-held");
    };
    node.addEventListener("pointerup", release);
    node.addEventListener("pointercancel", release);
  },

  // --- time and size ------------------------------------------------------------------------------------------------
  // Calls draw(width) now and whenever the width of `node` changes.
  sized(node, draw) {
    let last = 0;
    const check = () => {
      const width = Math.floor(node.clientWidth);
      if (width > 0 && width !== last) draw(last = width);
    };
    new ResizeObserver(check).observe(node);
    check();
  },
  // Runs frame(t) with t from 0 to 1, eased; at once where asked or where motion is unwelcome. A new call ends the one
  // before.
  tween(milliseconds) {
    let ticket = 0;
    return (frame, moving = true) => {
      const mine = ++ticket, begin = performance.now();
      if (!moving || kit.reduced.matches || document.hidden) return frame(1);
      const tick = now => {
        if (mine !== ticket) return;
        const t = kit.clamp((now - begin) / milliseconds, 0, 1);
        frame(1 - (1 - t) ** 3);
        if (t < 1) requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
    };
  },
  // A line for screen readers, spoken once things have come to rest.
  announcer(root) {
    const node = root.appendChild(kit.el("output", {class: "romae-sr", "aria-live": "polite"}));
    let timer;
    return (message, now = false) => {
      clearTimeout(timer);
      if (now) node.textContent = message;
      else timer = setTimeout(() => { node.textContent = message; }, 350);
    };
  },

  // --- mounting -----------------------------------------------------------------------------------------------------
  // Light text around the figure means a dark ground: true in every host, whatever it calls its themes.
  followScheme(figure) {
    const pixel = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const look = () => {
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = getComputedStyle(figure.parentElement).color;
      pixel.fillRect(0, 0, 1, 1);
      const [r, g, b] = pixel.getImageData(0, 0, 1, 1).data, scheme = 0.3 * r + 0.59 * g + 0.11 * b > 140 ? "dark"
        : "light";
      if (figure.dataset.scheme !== scheme) figure.dataset.scheme = scheme;
    };
    const later = () => { look(); setTimeout(look, 60); setTimeout(look, 500); };
    const observer = new MutationObserver(later);
    for (const node of [document.documentElement, document.body])
      observer.observe(node, {attributes: true, attributeFilter: ["data-theme", "data-mode", "theme", "class", "style",
        "data-jp-theme-light"]});
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
    later();
  },
  mount(key, explorable, data, height, tour = []) {
    for (const figure of document.querySelectorAll(`.${key}:not([data-ready])`)) {
      const live = figure.querySelector(".romae-live");
      figure.dataset.ready = "1";  // before drawing, so that widths can be measured
      try {
        kit.followScheme(figure);
        const own = kit.remembering(figure, {...kit, height});
        explorable(live, data, own);
        own.addressable(figure, tour);
      } catch (error) {
        figure.dataset.ready = "failed";  // the still picture comes back
        console.error(error);
      }
    }
  },

  // --- a state from outside: in the address, and in the steps of a tour ----------------------------------------------
  // #two_tokens:query=30&key=25 opens the figure of that name with these controls set, all others as they were. A
  // control is called by its label in small letters with hyphens, or by `name`; "" for one that says what another says
  // already. What has no control is kept by kit.keep(name, get, set), as text.
  slug: label => label.toLowerCase().replace(/[^\p{L}\p{N}.]+/gu, "-").replace(/^-+|-+$/g, ""),
  remembering(figure, own) {
    const known = new Map(), shown = {};
    const keep = (name, node, get, set) => { if (name) known.set(name, {node, get, set}); };
    // An address may be old, or cut: what a control cannot have is left alone.
    const fits = (input, v) => input.options ? [...input.options].some(o => o.value === v)
      : Number.isFinite(kit.number(v));
    const typed = (input, event) => [() => input.value, v => {
      if (!fits(input, v)) return;
      input.value = v;
      input.dispatchEvent(new Event(event, {bubbles: true}));
    }];
    const show = () => {
      figure.dataset.state = JSON.stringify(shown.tour === undefined ? shown.state : {...shown.state,
        tour: shown.tour});
    };
    const alike = (a, b) => a === b || (a !== "" && b !== "" && +a === +b);
    return Object.assign(own, {
      state(value) { shown.state = value; show(); },
      keep: (name, get, set) => keep(name, figure, get, set),
      slider(options) {
        const made = kit.slider(options);
        keep(options.name ?? kit.slug(options.label), made.input, ...typed(made.input, "input"));
        return made;
      },
      select(options) {
        const made = kit.select(options);
        keep(options.name ?? kit.slug(options.label), made.input, ...typed(made.input, "change"));
        return made;
      },
      button(content, attributes, click) {
        const node = kit.button(content, attributes, click),
          pressed = () => ({true: "1", false: "0"}[node.getAttribute("aria-pressed")]);
        keep(attributes.name ?? kit.slug(attributes["aria-label"] ?? node.textContent), node, pressed, v => {
          if (v !== pressed() && (v === "0" || v === "1")) node.click();
        });
        return node;
      },
      handle(node, options) {
        const now = limit => typeof limit === "function" ? limit() : limit;
        const put = text => {  // what counts things has whole numbers only
          const v = Number.isInteger(options.step) ? Math.round(kit.number(text)) : kit.number(text);
          if (Number.isFinite(v)) options.to(kit.clamp(v, now(options.min), now(options.max)));
        };
        keep(options.name ?? kit.slug(options.label), node, () => node.getAttribute("aria-valuenow"), put);
        return kit.handle(node, options);
      },
      // What can be set and is there, as text by name.
      remembered: () => Object.fromEntries([...known].filter(([, {node, get}]) => node.isConnected
        && get() != null).map(([name, {get}]) => [name, String(get())])),
      // Everything as `first` has it, and then what is wanted: several times, as one control may change what another
      // allows.
      restore(first, wanted) {
        const put = (name, value) => {
          const one = known.get(name);
          if (!one?.node.isConnected || alike(String(one.get()), value)) return false;
          one.set(value);
          return true;
        };
        const settle = pairs => {
          for (let round = 0; round < 4;
            round++) if (!pairs.map(([name, value]) => put(name, value)).some(Boolean)) break;
        };
        settle(Object.entries(first).filter(([name]) => !(name in wanted)));
        // pressing one may release another
        settle(Object.entries(wanted).sort(([, a], [, b]) => (a === "0") - (b === "0")));
        const unknown = Object.keys(wanted).filter(name => !known.get(name)?.node.isConnected);
        if (unknown.length) console.warn(
          `${figure.dataset.explorable} has no ${unknown.join(", ")}; it has ${[...known.keys()].join(", ")}`);
      },
      address(first) {
        const now = own.remembered(), changed = Object.entries(now).filter(([name, value]) => !alike(first[name] ?? "",
          value));
        const pairs = changed.map(pair => pair.map(encodeURIComponent).join("="));
        return `#${figure.dataset.explorable}:${pairs.join("&")}`;
      },
      addressable(figure, tour) {
        const first = own.remembered();
        const asked = () => {
          const [, name, wanted] = location.hash.match(/^#([^:]+):(.*)$/) ?? [];
          if (!name || figure !== document.querySelector(`[data-explorable="${CSS.escape(name)}"]`)) return;
          own.restore(first, Object.fromEntries(new URLSearchParams(wanted)));
          figure.scrollIntoView({block: "center"});
        };
        asked();
        addEventListener("hashchange", asked);
        // A notebook's page has no address that anyone else could open.
        if (window === window.top && !document.getElementById("jupyter-config-data")) figure.prepend(
          kit.linkButton(() => own.address(first)));
        if (tour.length) figure.querySelector(".romae-live").after(kit.tour(tour, (step, wanted) => {
          if (wanted) own.restore(first, wanted);
          shown.tour = step;
          show();
        }));
      },
    });
  },
  linkButton(address) {
    const said = kit.el("output", {class: "romae-said", "aria-live": "polite"});
    const icon = kit.svg("svg", {viewBox: "0 0 16 16", "aria-hidden": "true"},
      kit.svg("path", {fill: "none", "stroke-width": 1.6, "stroke-linecap": "round", style: "stroke:currentColor",
      d: "M6.6 9.4a3 3 0 0 0 4.3 0l2.3-2.3a3 3 0 0 0-4.3-4.3l-.8.8M9.4 6.6a3 3 0 0 0-4.3 0L2.8 8.9a3 3 0 0 0 4.3 "
        + "4.3l.8-.8"}));
    const title = "Copy a link to this figure as it stands";
    const button = kit.button(icon, {"aria-label": title, title}, async () => {
      history.replaceState(null, "", address());
      said.textContent = await navigator.clipboard?.writeText(location.href).then(() => "link copied",
        () => "") || "see the address bar";
      setTimeout(() => { said.textContent = ""; }, 2500);
    });
    return kit.el("span", {class: "romae-link"}, said, button);
  },
  // Steps, each a caption and a state; `to(step, wanted)` gets the number from 1, or undefined at the end.
  tour(steps, to) {
    let at = -1;
    const caption = kit.el("p", {"aria-live": "polite"});
    const go = step => {
      at = step;
      const [words, wanted] = steps[at];
      caption.replaceChildren(kit.el("b", {}, `${at + 1} of ${steps.length}. `), words);
      back.disabled = at === 0;
      next.textContent = at === steps.length - 1 ? "done" : "next";
      to(at + 1, wanted);
    };
    const back = kit.button("back", {class: "romae-button"}, () => { go(at - 1); if (back.disabled) next.focus(); });
    const next = kit.button("next", {class: "romae-button"}, () => at === steps.length - 1 ? turn(false) : go(at + 1));
    const leave = kit.button("leave", {class: "romae-button", "aria-label": "leave the tour"}, () => turn(false));
    const inside = kit.el("div", {class: "romae-step", hidden: ""}, caption, kit.el("div", {class: "romae-row"}, back,
      next, leave));
    const begin = kit.button(`show me, in ${steps.length} steps`, {class: "romae-button"}, () => turn(true));
    const turn = on => {
      inside.hidden = !on;
      begin.hidden = on;
      if (on) go(0); else to(undefined);
      (on ? next : begin).focus({preventScroll: true});
    };
    return kit.el("div", {class: "romae-tour", role: "group", "aria-label": "Tour of this figure"}, begin, inside);
  },
};
