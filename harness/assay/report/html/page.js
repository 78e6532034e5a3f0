"use strict";
(() => {
  const root = document.documentElement;
  const find = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const tools = find("[data-tools]"), filter = find("[data-filter]");
  const text = find("[data-find]"), status = find("[data-status]"), chips = all("[data-pick]");
  const total = Number(tools.dataset.total);

  // -- theme: automatic, light or dark; kept where the browser lets a local file keep anything
  const themes = ["automatic", "light", "dark"], theme = find("[data-theme-switch]");
  const store = (...value) => {
    try { return value.length ? localStorage.setItem("assay-theme", value) : localStorage.getItem("assay-theme"); } catch { return null; }
  };
  const paint = (name) => { root.dataset.theme = name; theme.textContent = `Theme: ${name}`; };
  paint(themes.includes(store()) ? store() : themes[0]);
  theme.addEventListener("click", () => {
    paint(themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length]);
    store(root.dataset.theme);
  });

  // -- filter: an item shows its verdicts, contract, kind and level in data attributes
  let items;
  const prepare = () => all("[data-v]").map((element) => {
    const group = element.closest("[data-group]");
    const head = group && find("[data-head]", group);
    const words = `${element.dataset.o || ""} ${element.textContent} ${head ? head.textContent : ""}`;
    return { element, group, section: element.closest("section"), words: words.toLowerCase() };
  });
  const matches = (item, words, wanted) =>
    wanted.every(([key, values]) => (item.element.dataset[key] || "").split(" ").some((each) => values.has(each)))
    && words.every((word) => item.words.includes(word));
  const apply = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = new Map();
    for (const { ariaPressed, dataset } of chips) if (ariaPressed === "true") wanted.set(dataset.pick, (wanted.get(dataset.pick) || new Set()).add(dataset.value));
    items = items || prepare();
    const shown = new Set(), kept = new Set();
    for (const item of items) {
      const ok = matches(item, words, [...wanted]);
      item.element.hidden = !ok;
      if (!ok) continue;
      kept.add(item.group).add(item.section);
      if (item.element.dataset.o) shown.add(item.element.dataset.o);
    }
    for (const item of items) {
      if (item.group) item.group.hidden = !kept.has(item.group);
      if (item.section) item.section.hidden = !kept.has(item.section);
    }
    status.textContent = words.length || wanted.size
      ? `${shown.size.toLocaleString("en")} of ${total.toLocaleString("en")} obligations shown`
      : `${total.toLocaleString("en")} obligations`;
  };
  const clear = () => {
    text.value = "";
    for (const chip of chips) chip.ariaPressed = "false";
    apply();
  };
  let timer;
  text.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(apply, 80); });
  for (const chip of chips) chip.addEventListener("click", () => { chip.ariaPressed = String(chip.ariaPressed !== "true"); apply(); });
  find("[data-clear]").addEventListener("click", () => { clear(); text.focus(); });
  const phone = matchMedia("(max-width: 40rem)");
  const fit = () => { filter.open = !phone.matches; };
  phone.addEventListener("change", fit);

  // -- details: all at once, and before printing those that the style sheet opens as well
  const set = (open) => {
    for (const each of all("main details")) if (!each.closest("[hidden]")) each.open = open;
  };
  find("[data-expand]").addEventListener("click", () => set(true));
  find("[data-collapse]").addEventListener("click", () => set(false));
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("main details:not([open]):not(.passed)");
    for (const each of opened) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of opened) each.open = false; });

  // -- copying: the command beside the button, also where a page has no clipboard
  const copy = async (button) => {
    const command = button.previousElementSibling;
    getSelection().selectAllChildren(command);
    try { await navigator.clipboard.writeText(command.textContent); } catch { document.execCommand("copy"); }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  for (const button of all("[data-copy]")) button.hidden = false;
  addEventListener("click", ({ target }) => { if (target.matches("[data-copy]")) copy(target); });

  // -- the decisive member: a pane that opens is scrolled to it, and the page is not
  addEventListener("toggle", ({ target }) => {
    for (const pane of target.open ? all(".panes pre:has(mark)", target) : []) {
      const mark = find("mark", pane).getBoundingClientRect(), { top, bottom } = pane.getBoundingClientRect();
      if (mark.bottom > bottom) pane.scrollTop += mark.top - top - pane.clientHeight / 3;
    }
  }, true);

  // -- keys and deep links
  const step = (by) => {
    const lines = all("[data-finding] > summary").filter((each) => !each.closest("[hidden]"));
    const own = document.activeElement.closest("[data-finding]");
    const at = own ? lines.indexOf(find("summary", own)) + by : 0;
    const next = lines[Math.min(Math.max(at, 0), lines.length - 1)];
    next?.focus();
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && event.target === text) clear();
    if (event.target.closest && event.target.closest("input")) return;
    if (event.key === "/") { event.preventDefault(); filter.open = true; text.focus(); text.select(); }
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
  });
  const follow = () => {
    let name;
    try { name = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const target = name && document.getElementById(name);
    if (!target) return;
    if (target.closest("[hidden]")) clear();
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    const own = find(":scope > details", target);
    if (own) own.open = true;
    if (!target.hasAttribute("tabindex")) target.tabIndex = -1;
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: "start" });
  };
  addEventListener("hashchange", follow);
  tools.hidden = false;
  fit();
  status.textContent = `${total.toLocaleString("en")} obligations`;
  if (location.hash) follow();
})();
