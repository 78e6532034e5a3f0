"use strict";
(() => {
  const root = document.documentElement;
  const find = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const tools = find("[data-tools]");
  const text = find("[data-find]");
  const picks = all("[data-pick]");
  const status = find("[data-status]");
  const total = Number(tools.dataset.total);

  // -- theme: automatic, light or dark; kept where the browser lets a local file keep anything
  const theme = find("[data-switch]");
  const store = (value) => {
    try {
      if (value === undefined) return localStorage.getItem("assay-theme") || "";
      localStorage.setItem("assay-theme", value);
    } catch { /* no storage for local files here */ }
    return "";
  };
  const paint = (name) => {
    if (name === "light" || name === "dark") root.dataset.theme = name;
    else delete root.dataset.theme;
  };
  theme.value = ["light", "dark"].includes(store()) ? store() : "";
  paint(theme.value);
  theme.addEventListener("change", () => { store(theme.value); paint(theme.value); });

  // -- filter: an item shows its verdicts, contract, kind and level in data attributes
  let items;
  const prepare = () => all("[data-v]").map((element) => {
    const group = element.closest("[data-group]");
    const head = group && find("[data-head]", group);
    const words = `${element.dataset.o || ""} ${element.textContent} ${head ? head.textContent : ""}`;
    return { element, group, section: element.closest("section"), words: words.toLowerCase() };
  });
  const matches = (item, words, wanted) =>
    wanted.every(([key, value]) => (item.element.dataset[key] || "").split(" ").includes(value))
    && words.every((word) => item.words.includes(word));
  const apply = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = picks.filter((pick) => pick.value).map((pick) => [pick.dataset.pick, pick.value]);
    const active = words.length > 0 || wanted.length > 0;
    items = items || prepare();
    const shown = new Set(), kept = new Set();
    for (const item of items) {
      const ok = matches(item, words, wanted);
      item.element.hidden = !ok;
      if (!ok) continue;
      kept.add(item.group).add(item.section);
      if (item.element.dataset.o) shown.add(item.element.dataset.o);
    }
    for (const item of items) {
      if (item.group) item.group.hidden = !kept.has(item.group);
      if (item.section) item.section.hidden = !kept.has(item.section);
    }
    status.textContent = active
      ? `${shown.size.toLocaleString("en")} of ${total.toLocaleString("en")} obligations shown`
      : `${total.toLocaleString("en")} obligations`;
  };
  const clear = () => {
    text.value = "";
    for (const pick of picks) pick.value = "";
    apply();
  };
  let timer;
  text.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(apply, 80); });
  for (const pick of picks) pick.addEventListener("change", apply);
  find("[data-clear]").addEventListener("click", () => { clear(); text.focus(); });

  // -- details: all at once, and before printing those that the style sheet opens as well
  const set = (open) => {
    for (const each of all("details")) if (!each.closest("[hidden]")) each.open = open;
  };
  find("[data-expand]").addEventListener("click", () => set(true));
  find("[data-collapse]").addEventListener("click", () => set(false));
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open]):not(.passed)");
    for (const each of opened) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of opened) each.open = false; });

  // -- keys and deep links
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.closest && event.target.closest("input, select, textarea");
    if (event.key === "/" && !typing) { event.preventDefault(); text.focus(); text.select(); }
    if (event.key === "Escape" && event.target === text) clear();
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
  status.textContent = `${total.toLocaleString("en")} obligations`;
  if (location.hash) follow();
})();
