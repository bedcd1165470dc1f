"use strict";
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const store = (value) => { try { localStorage.setItem("eds-report-theme", value); } catch { /* private window: not kept */ } };
  try { const stored = localStorage.getItem("eds-report-theme"); if (stored) root.dataset.theme = stored; } catch { /* private window */ }
  const theme = document.getElementById("theme");
  const current = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const label = () => {
    const other = current() === "dark" ? "light" : "dark";
    theme.textContent = other === "dark" ? "Dark" : "Light";
    theme.setAttribute("aria-label", `Switch to the ${other} theme`);
  };
  theme.addEventListener("click", () => { root.dataset.theme = current() === "dark" ? "light" : "dark"; store(current()); label(); });
  dark.addEventListener("change", label);
  label();

  const valueOf = (row, index) => { const text = row.cells[index].dataset.value; return text === undefined ? null : JSON.parse(text); };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  for (const head of document.querySelectorAll("thead th")) {
    head.querySelector("button").addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") === "descending" || (!head.hasAttribute("aria-sort") && !head.classList.contains("n"));
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "ascending" : "descending");
      const body = head.closest("table").tBodies[0];
      const rows = [...body.rows].map((row) => [valueOf(row, head.cellIndex), row]);
      rows.sort(([a], [b]) => (a === null ? 1 : b === null ? -1 : falling ? compare(a, b) : compare(b, a)));
      body.append(...rows.map(([, row]) => row));
    });
  }

  const tip = document.getElementById("tip");
  for (const title of document.querySelectorAll(".chart title")) { // shown by us, faster than the browser's own
    title.parentElement.dataset.tip = title.textContent;
    title.remove();
  }
  const show = (event) => {
    const mark = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.dataset.tip;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const above = event.clientY + 18 + tip.offsetHeight > innerHeight;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${above ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18}px`;
  };
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerleave", () => { tip.hidden = true; });
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  const folds = [...document.querySelectorAll("details")];
  const all = document.getElementById("all");
  all.addEventListener("click", () => {
    const open = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = open;
    all.textContent = open ? "Fold all" : "Open all";
    all.setAttribute("aria-label", `${all.textContent} sections`);
  });
  const follow = () => { // a link to a section, or into one, opens it
    const goal = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = goal && (goal.querySelector(":scope > details") || goal.closest("details"));
    if (fold) { fold.open = true; goal.scrollIntoView(); }
  };
  addEventListener("hashchange", follow);
  follow();
  addEventListener("beforeprint", () => { for (const fold of folds) fold.open = true; });
})();
