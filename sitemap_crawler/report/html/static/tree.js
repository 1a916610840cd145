
// The site tree: lines and squares, by directory or by clicks, for mouse and keyboard.
const tree = () => {
  const list = byId("nodes");
  if (!list) return;
  const card = byId("tree-view"), chosen = byId("chosen"), crumbs = card.querySelector(".crumbs");
  const describe = chosen.querySelector("p"), showRows = chosen.querySelector("button");
  const whole = card.querySelector(".bar.whole");
  const none = () => data.groups.map(() => 0);
  const sum = (counts) => counts.reduce((total, count) => total + count, 0);
  const plus = (one, other) => one.map((count, group) => count + (other[group] || 0));

  // Without a prefix the labels are whole addresses: those of pages.
  const unpack = ([label, own = [], children = [], folded = 0, foldedCounts = []], parent, prefix) => {
    const node = { label, parent, folded, own: plus(none(), own), foldedCounts: plus(none(), foldedCounts) };
    // The name of a directory elsewhere is a whole address.
    node.url = !prefix || /^https?:\/\//.test(label) ? label : prefix + label;
    node.children = children.map((child) => unpack(child, node, prefix === undefined ? undefined : node.url));
    node.counts = node.children.reduce((counts, child) => plus(counts, child.counts), plus(node.own, node.foldedCounts));
    node.total = sum(node.counts);
    return node;
  };
  const roots = {};
  for (const [mode, packed] of Object.entries(data.trees)) {
    if (packed) roots[mode] = unpack(packed, null, mode === "clicks" ? undefined : "");
  }
  let mode = card.dataset.mode, current = roots[mode], items = [], active = 0;

  const squares = (counts) => {
    let position = 0;
    const paths = [];
    counts.forEach((count, group) => {
      const end = position + Math.ceil(count / data.unit);
      let path = "";
      while (position < end) {
        const line = Math.floor(position / COLUMNS), column = position % COLUMNS;
        const length = Math.min(COLUMNS - column, end - position);
        path += `M${column} ${line}.5h${length}`;
        position += length;
      }
      if (path) {
        paths.push(svg("path", {
          class: `s-${data.groups[group][0]}`, d: path, fill: "none", "stroke-width": ".86", "stroke-dasharray": ".86 .14",
        }));
      }
    });
    const lines = Math.max(1, Math.ceil(position / COLUMNS));
    return svg("svg", {
      class: "squares", viewBox: `0 0 ${COLUMNS} ${lines}`, width: COLUMNS * 14, height: lines * 14,
      preserveAspectRatio: "xMinYMin meet", "aria-hidden": "true", focusable: "false",
    }, ...paths);
  };

  const bar = (counts) => {
    const total = sum(counts) || 1;
    let start = 0;
    return ["listed", "risk", "broken", "asked", "course", "open"].map(groupNumber).filter((group) => counts[group])
      .map((group) => {
        const length = 100 * counts[group] / total;
        const part = svg("rect", { class: `f-${data.groups[group][0]}`, x: start, width: length, height: 1 });
        start += length;
        return part;
      });
  };

  const svg = (name, attributes, ...children) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  const nameOf = (node) => (mode === "clicks" || !node.parent ? shownUrl(node.url) : shownUrl(node.label));

  const parts = () => {
    const found = current.children.map((node) => ({ node, name: nameOf(node), counts: node.counts, total: node.total }));
    if (current.folded) {
      found.push({ name: `${number(current.folded)} smaller ones`, counts: current.foldedCounts, total: sum(current.foldedCounts), faint: true });
    }
    if (sum(current.own)) {
      const name = mode === "clicks" ? "lead no further" : "pages right here";
      found.push({ name, counts: current.own, total: sum(current.own), faint: true, own: true });
    }
    return found;
  };

  const draw = (select = 0) => {
    items = parts();
    list.replaceChildren(...items.map((item, position) => {
      const name = element("span", { className: item.faint ? "name mute" : "name", textContent: item.name, title: item.name });
      const box = element("span", { className: "box" }, name, " ",
        element("span", { className: "total", textContent: number(item.total) }));
      const opens = Boolean(item.node && item.node.children.length);
      const made = element("li", { className: opens ? "node more" : "node", role: "treeitem", tabIndex: -1 }, box, squares(item.counts));
      made.setAttribute("aria-selected", "false");
      made.setAttribute("aria-label", `${item.name}: ${number(item.total)} URLs, ${words(item.counts)}${opens ? ". Enter goes in" : ""}`);
      made.addEventListener("click", () => { choose(position); enter(); });
      made.addEventListener("mousemove", (event) => hover(event, item));
      return made;
    }));
    list.setAttribute("role", "tree");
    list.setAttribute("aria-label", `Site tree, ${nameOf(current)}`);
    whole.replaceChildren(...bar(current.counts));
    drawCrumbs();
    active = Math.min(select, items.length - 1);
    if (items.length) list.children[active].tabIndex = 0;
    for (const button of card.querySelectorAll(".toggle button")) {
      button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
    }
  };

  const drawCrumbs = () => {
    const path = [];
    for (let node = current.parent; node; node = node.parent) path.unshift(node);
    const buttons = path.flatMap((node) => {
      const button = element("button", { type: "button", className: "url", textContent: nameOf(node) });
      button.addEventListener("click", () => go(node));
      return [button, element("span", { className: "mute", textContent: "\u203a", "aria-hidden": "true" })];
    });
    const by = mode === "clicks" ? ", by the clicks that lead to them first" : "";
    crumbs.replaceChildren(...buttons, element("span", { className: "url", textContent: nameOf(current) }),
      element("span", { className: "mute", textContent: `${number(current.total)} URLs${by}` }));
  };

  const choose = (position, focus = false) => {
    const lines = list.children;
    if (!lines.length) return;
    lines[active].tabIndex = -1;
    lines[active].setAttribute("aria-selected", "false");
    active = Math.max(0, Math.min(position, lines.length - 1));
    lines[active].tabIndex = 0;
    lines[active].setAttribute("aria-selected", "true");
    if (focus) lines[active].focus();
    const item = items[active];
    say(`${item.name}: ${number(item.total)} URLs, ${words(item.counts)}`, Boolean(table) && Boolean(item.node || item.own));
  };

  const say = (text, hasRows) => {
    chosen.hidden = false;
    describe.textContent = text;
    showRows.hidden = !hasRows;
  };

  const go = (node, from = null) => {
    current = node;
    draw(from ? Math.max(0, node.children.indexOf(from)) : 0);
    choose(active, true);
  };

  const enter = () => {
    const { node } = items[active];
    if (node && node.children.length) go(node);
  };

  const leave = () => { if (current.parent) go(current.parent, current); };

  const rowsOf = (item) => {
    const node = item.node || current;
    if (mode === "clicks") return { from: absolute(node.url) };
    return { under: absolute(node.url) };
  };
  const absolute = (url) => (url.startsWith("/") ? data.origin + url : url);

  // Tell the page of a square. Its place says its group, and within the group squares are in the order of their URLs.
  const hover = (event, item) => {
    const drawing = event.currentTarget.querySelector(".squares");
    const box = drawing.getBoundingClientRect();
    const [, , columns, lines] = drawing.getAttribute("viewBox").split(" ").map(Number);
    const scale = Math.min(box.width / columns, box.height / lines);
    const column = Math.floor((event.clientX - box.left) / scale), line = Math.floor((event.clientY - box.top - 3) / scale);
    if (mode === "clicks" || data.unit > 1 || rows.length !== data.total || column < 0 || column >= columns || line < 0) return;
    let index = line * COLUMNS + column;
    const group = item.counts.findIndex((count) => (index < count ? true : ((index -= count), false)));
    if (group < 0 || !(item.node || item.own)) return;
    const prefix = absolute((item.node || current).url);
    const directly = (url) => !url.slice(prefix.length).split("?")[0].includes("/");
    const found = rows.filter((row) => row.group === group && row.url.startsWith(prefix) && (item.node || directly(row.url)))[index];
    if (found) say(`${shownUrl(found.url)}: ${data.groups[group][2]}${found.evidence ? `, ${found.evidence}` : ""}`, false);
  };

  list.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: items.length - 1 };
    if (event.key in steps) choose(steps[event.key], true);
    else if (event.key === "Enter" || event.key === "ArrowRight" || event.key === " ") enter();
    else if (event.key === "Escape" || event.key === "ArrowLeft") leave();
    else return;
    event.preventDefault();
  });
  list.addEventListener("focusin", (event) => {
    const position = [...list.children].indexOf(event.target);
    if (position >= 0 && event.target.getAttribute("aria-selected") !== "true") choose(position);
  });
  showRows.addEventListener("click", () => {
    table.filter(rowsOf(items[active]));
    byId("urls").scrollIntoView();
    byId("q").focus({ preventScroll: true });
  });
  for (const button of card.querySelectorAll(".toggle button")) {
    button.addEventListener("click", () => {
      mode = button.dataset.mode;
      current = roots[mode];
      chosen.hidden = true;
      draw();
    });
  }
  draw();
};
