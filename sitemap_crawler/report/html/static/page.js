
// The page: colours, the section in view, printing, and the start of all parts.
const themes = () => {
  const box = document.querySelector(".themes"), name = "sitemap-report-theme";
  const stored = { get: () => null, set: () => {} };
  try {
    stored.get = () => localStorage.getItem(name);
    stored.set = (value) => localStorage.setItem(name, value);
    stored.get();
  } catch {
    // Storage is forbidden here: the colours last as long as the page.
    stored.get = () => null;
    stored.set = () => {};
  }
  const use = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    for (const button of box.children) button.setAttribute("aria-pressed", String(button.dataset.theme === theme));
  };
  for (const button of box.children) {
    button.addEventListener("click", () => { use(button.dataset.theme); stored.set(button.dataset.theme); });
  }
  const theme = stored.get();
  use(theme === "light" || theme === "dark" ? theme : "auto");
  box.hidden = false;
};

const sections = () => {
  const links = new Map([...document.querySelectorAll(".side nav a")].map((anchor) => [anchor.hash.slice(1), anchor]));
  const observer = new IntersectionObserver(() => {
    const reached = [...links.keys()].filter((id) => byId(id).getBoundingClientRect().top < innerHeight / 3);
    for (const anchor of links.values()) anchor.removeAttribute("aria-current");
    links.get(reached.at(-1) || "summary").setAttribute("aria-current", "true");
  }, { rootMargin: "0px 0px -66% 0px", threshold: [0, 0.1] });
  for (const id of links.keys()) observer.observe(byId(id));
};

const printing = () => {
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const details of closed) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of closed) details.open = false; });
};

for (const scripted of document.querySelectorAll(".scripted")) if (!["chosen", "pager"].includes(scripted.id)) scripted.hidden = false;
tree();
themes();
sections();
printing();
