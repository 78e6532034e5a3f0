"use strict";
(() => {
  // A page of a run that goes on: loaded again when there is more, with what was open and where it was.
  const size = document.querySelector("meta[name=assay-live]").content, key = "assay-live";
  const named = (element) => element.closest("[id]");
  try {
    for (const id of JSON.parse(sessionStorage.getItem(key) || "[]")) {
      const at = document.getElementById(id);
      const details = at && (at.tagName === "DETAILS" ? at : at.querySelector(":scope > details"));
      if (details) details.open = true;
    }
  } catch { /* a browser that keeps nothing */ }
  const again = () => {
    const open = [...document.querySelectorAll("main details[open]")].map(named).filter(Boolean);
    try { sessionStorage.setItem(key, JSON.stringify(open.map((each) => each.id))); } catch { /* the same */ }
    location.reload();
  };
  const timer = setInterval(async () => {
    try {
      const now = await (await fetch("size", { cache: "no-store" })).text();
      if (now !== size) again();
    } catch {
      clearInterval(timer);
      document.title = `Ended: ${document.title}`;
    }
  }, 1500);
})();
