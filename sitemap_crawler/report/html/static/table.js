
"use strict";
// The script of the report is made of table.js, tree.js and page.js, in this order. Every fact is in the page without it.
// All texts come from a crawled site, so they are only ever set as text, and links are http or https only.

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const PAGE_ROWS = 50;
// A phone gets fewer and larger squares.
const COLUMNS = matchMedia("(max-width: 760px)").matches ? 30 : 50;
const SVG = "http://www.w3.org/2000/svg";
const number = (value) => value.toLocaleString("en-US");
const groupNumber = (name) => data.groups.findIndex((group) => group[0] === name);

const element = (name, properties = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
};

const shownUrl = (url) => {
  const text = url.startsWith(`${data.origin}/`) ? url.slice(data.origin.length) : url;
  return text.length > 160 ? `${text.slice(0, 160)}\u2026` : text;
};

const link = (url) => {
  if (!/^https?:\/\//.test(url)) return element("span", { className: "url", textContent: shownUrl(url) });
  return element("a", {
    className: "url", href: url, rel: "noreferrer noopener nofollow", textContent: shownUrl(url),
  });
};

const words = (counts) => {
  const parts = counts.map((count, group) => (count ? `${number(count)} ${data.groups[group][2]}` : "")).filter(Boolean);
  return parts.join(", ");
};

// The table of URLs: search, filters, sorting, pages, details of a row.

const rows = [];
{
  let before = "";
  for (const [shared, rest, reason, evidence, title, answer, clicks, links, date, source, marks, earlier, from, engine] of data.rows) {
    const url = before.slice(0, shared) + rest;
    before = url;
    rows.push({
      url, title, answer, clicks, links, date, isNew: (marks & 1) > 0, hasLeft: (marks & 2) > 0,
      change: data.changes[marks >> 2 & 3], rendering: data.renderings[marks >> 4], engine: data.texts[engine],
      reason: data.reasons[reason], group: data.reasonGroups[data.reasons[reason]],
      evidence: data.texts[evidence], source: data.texts[source], earlier: data.texts[earlier], from: data.texts[from],
      text: `${shownUrl(url)} ${title} ${data.texts[evidence]}`.toLowerCase(),
    });
  }
}

const table = (() => {
  const view = byId("rows");
  if (!view) return null;
  const body = view.tBodies[0];
  const controls = byId("controls"), search = byId("q"), select = byId("reason"), pager = byId("pager");
  let wanted = {}, sortKey = "group", direction = 1, first = 0, matching = rows;

  const order = {
    url: (row) => row.url, group: (row) => row.group, status: (row) => row.answer, clicks: (row) => row.clicks,
    links: (row) => row.links, date: (row) => row.date,
  };

  const isListed = (row) => ["listed", "risk"].includes(data.groups[row.group][0]);
  // As the section on clicks counts: 10 stands for 10 and more, 11 for none.
  const clickClass = (clicks) => (clicks < 0 ? 11 : Math.min(clicks, 10));
  const ageOf = (row) => {
    if (!row.date) return data.undated;
    const known = data.ages.find(([, seconds]) => data.moment - row.date <= seconds);
    return known ? known[0] : data.older;
  };

  const renderings = {
    useful: "shows links or content by scripts", idle: "shows no more than the server sends", failed: "failed",
    earlier: "is of an earlier run, unchanged",
  };

  // The filters: whether a row has the value that is wanted, and for those without a control the words.
  const filters = {
    reason: [(row, value) => row.reason === value],
    group: [(row, value) => data.groups[row.group][0] === value],
    under: [(row, value) => row.url.startsWith(value), (value) => `below ${shownUrl(value)}`],
    from: [(row, value) => row.from === value, (value) => `first found on ${shownUrl(value)}`],
    clicks: [
      (row, value) => clickClass(row.clicks) === Number(value),
      (value) => (value === "11" ? "without clicks" : `clicks: ${value}${value === "10" ? " and more" : ""}`),
    ],
    only: [
      (row, value) => (value === "new" ? row.isNew : row.hasLeft),
      (value) => (value === "new" ? "new in this run"
        : data.published ? "that left the sitemap in this run" : "that would leave the sitemap"),
    ],
    listed: [
      (row, value) => isListed(row) === (value === "yes"),
      (value) => (value === "yes" ? "that are listed" : "that are not listed"),
    ],
    links: [
      (row, value) => isListed(row) && row.links === Number(value) && (row.links > 0 || row.clicks !== 0),
      (value) => `that are listed, links in: ${value}`,
    ],
    age: [(row, value) => isListed(row) && ageOf(row) === value, (value) => `that are listed, last change: ${value}`],
    source: [
      (row, value) => isListed(row) && row.date > 0 && row.source === value,
      (value) => `that are listed with a date from ${value}`,
    ],
    answer: [
      (row, value) => row.answer === Number(value),
      (value) => (value > 0 ? `with status ${value}` : value === "-1" ? "without an answer" : "not asked for: robots.txt"),
    ],
    change: [(row, value) => row.change === value, (value) => `that this run ${value} in the sitemap`],
    engine: [(row, value) => row.engine === value, (value) => `of which Google says: ${value}`],
    rendering: [
      (row, value) => (value === "new" ? ["useful", "idle", "failed"].includes(row.rendering) : row.rendering === value),
      (value) => (value === "new" ? "rendered in this run" : `whose rendering ${renderings[value]}`),
    ],
  };

  const matches = (row, terms) =>
    Object.entries(wanted).every(([name, value]) => filters[name][0](row, value)) &&
    terms.every((term) => row.text.includes(term));

  const apply = () => {
    const terms = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    matching = rows.filter((row) => matches(row, terms));
    const of = order[sortKey];
    matching.sort((one, other) => {
      const a = of(one), b = of(other);
      return (a < b ? -direction : a > b ? direction : 0) || (one.url < other.url ? -1 : 1);
    });
    first = 0;
    show();
  };

  const show = () => {
    body.replaceChildren(...matching.slice(first, first + PAGE_ROWS).map(rowElement));
    byId("found").textContent = summary();
    for (const chip of controls.querySelectorAll("[data-group]")) {
      chip.setAttribute("aria-pressed", String(chip.dataset.group === (wanted.group ?? "*")));
    }
    select.value = wanted.reason ?? "*";
    showFilters();
    const last = Math.min(first + PAGE_ROWS, matching.length);
    pager.hidden = matching.length <= PAGE_ROWS;
    pager.querySelector("span").textContent = `${number(first + 1)} to ${number(last)} of ${number(matching.length)}`;
    const [back, on] = pager.querySelectorAll("button");
    back.disabled = first === 0;
    on.disabled = last === matching.length;
  };

  const summary = () => {
    const narrowed = search.value || Object.keys(wanted).some((name) => filters[name][1]);
    const all = "reason" in wanted ? data.reasonTotals[wanted.reason]
      : "group" in wanted ? data.groupTotals[groupNumber(wanted.group)] : data.total;
    if (rows.length === data.total) return `${number(matching.length)} of ${number(data.total)} URLs.`;
    if (narrowed) return `${number(matching.length)} of the ${number(rows.length)} URLs that this report holds.`;
    if (matching.length === all) return `${number(all)} of ${number(data.total)} URLs.`;
    const reason = wanted.reason ? ` --reason ${wanted.reason}` : "";
    return `${number(matching.length)} of these ${number(all)} URLs are in this report. All of them: ` +
      `sitemap-crawler pages ${data.command}${reason} --format csv`;
  };

  const showFilters = () => {
    const places = Object.entries(wanted).map(([name, value]) => filters[name][1]?.(value)).filter(Boolean);
    const line = byId("filters");
    line.hidden = !places.length;
    const clear = element("button", { type: "button", textContent: "Show all" });
    clear.addEventListener("click", () => { filter({}); search.focus(); });
    line.replaceChildren(`Only URLs ${places.join(", ")} `, clear);
  };

  const cell = (label, value) => element("td", { className: "num", "data-label": label, textContent: value });

  const rowElement = (row) => {
    const opener = element("button", { type: "button", className: "opener", "aria-expanded": "false" });
    opener.setAttribute("aria-label", `Details of ${shownUrl(row.url)}`);
    const head = element("th", { scope: "row" }, opener, link(row.url));
    if (row.title) head.append(element("span", { className: "title", textContent: row.title }));
    const group = data.groups[row.group];
    const why = element("span", { className: "why" });
    if (row.reason !== "listed" || row.evidence) why.append(element("code", { textContent: row.reason || "undecided" }));
    if (row.evidence) why.append(`: ${row.evidence}`);
    if (row.isNew && data.several) why.append(" ", element("span", { className: "new", textContent: "new" }));
    const made = element("tr", {}, head,
      element("td", {}, element("span", { className: `chip g-${group[0]}`, textContent: group[1] }), " ", why),
      cell("Status", row.answer > 0 ? row.answer : "\u2013"), cell("Clicks", row.clicks < 0 ? "\u2013" : row.clicks),
      cell("Links in", row.links < 0 ? "\u2013" : number(row.links)), cell("Changed", row.date ? day(row.date) : "\u2013"));
    made.lastChild.className = "";
    opener.addEventListener("click", () => toggle(made, opener, row));
    return made;
  };

  const day = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);

  const toggle = (made, opener, row) => {
    const open = opener.getAttribute("aria-expanded") === "true";
    opener.setAttribute("aria-expanded", String(!open));
    if (open) made.nextSibling.remove();
    else made.after(element("tr", { className: "detail" }, element("td", { colSpan: 6 }, details(row))));
  };

  const details = (row) => {
    const list = element("dl", { className: "facts" });
    const add = (name, ...value) =>
      list.append(element("div", {}, element("dt", { textContent: name }), element("dd", {}, ...value)));
    add("Address", row.url);
    add("Decision", `${data.groups[row.group][2]}${row.evidence ? `: ${row.evidence}` : ""}`);
    if (row.isNew && row.earlier) add("Before this run", row.earlier);
    if (row.change) add("In this run", `${row.change} in the sitemap`);
    if (row.from) add("Found on", link(row.from));
    if (row.date) add("Changed", `${day(row.date)} (${row.source})`);
    if (row.engine) add("Google says", row.engine);
    if (row.rendering) add("Rendering", `It ${renderings[row.rendering]}`);
    add("More", element("code", { className: "command", textContent: `sitemap-crawler explain '${row.url.replaceAll("'", "%27")}'${data.state}` }));
    return list;
  };

  const filter = (chosen) => {
    wanted = { ...chosen };
    search.value = "";
    apply();
  };

  for (const head of view.tHead.rows[0].cells) {
    const button = element("button", { type: "button", textContent: head.textContent });
    button.addEventListener("click", () => {
      const key = head.dataset.key;
      direction = sortKey === key ? -direction : key === "links" || key === "date" ? -1 : 1;
      sortKey = key;
      for (const other of view.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      apply();
    });
    head.replaceChildren(button);
    if (head.dataset.key === sortKey) head.setAttribute("aria-sort", "ascending");
  }
  view.classList.add("scripted-table");
  const choose = (name, value) => {
    delete wanted.reason;
    delete wanted.group;
    if (value !== "*") wanted[name] = value;
    apply();
  };
  search.addEventListener("input", apply);
  select.addEventListener("change", () => choose("reason", select.value));
  controls.addEventListener("submit", (event) => event.preventDefault());
  for (const chip of controls.querySelectorAll("[data-group]")) {
    chip.addEventListener("click", () => choose("group", chip.dataset.group));
  }
  for (const button of pager.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      first += Number(button.dataset.step) * PAGE_ROWS;
      show();
      byId("urls").scrollIntoView();
      (button.disabled ? view.tHead.querySelector("button") : button).focus({ preventScroll: true });
    });
  }
  document.addEventListener("click", (event) => {
    const anchor = event.target.closest('a[href="#urls"]');
    if (anchor && Object.keys(anchor.dataset).length) filter(anchor.dataset);
  });
  show();
  apply();
  return { filter };
})();
