// Tables that sort and filter, figures that follow the page's theme. No library besides plotly, no network.
(function () {
  "use strict";
  const root = document.documentElement;

  // ---- tables ----
  // A cell's sort key is its data-v (numbers) or its text. A cell without a value stays last in both directions:
  // "not known" is neither small nor large.
  function key(row, column, numeric) {
    const cell = row.cells[column];
    if (!numeric) return cell.textContent.trim().toLowerCase();
    return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
  }
  function sortTable(table, column, direction) {
    const header = table.tHead.rows[0].cells[column];
    const numeric = header.dataset.type === "number";
    const sign = direction === "ascending" ? 1 : -1;
    const rows = Array.from(table.tBodies[0].rows).map(function (row) { return [key(row, column, numeric), row]; });
    rows.sort(function (a, b) {
      if (a[0] === null || b[0] === null) return (a[0] === null) - (b[0] === null);
      if (a[0] < b[0]) return -sign;
      if (a[0] > b[0]) return sign;
      return 0;
    });
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", direction);
    table.tBodies[0].append.apply(table.tBodies[0], rows.map(function (pair) { return pair[1]; }));
  }
  function filterTable(box) {
    const table = box.querySelector("table.data");
    const words = box.querySelector("input[type=search]").value.trim().toLowerCase();
    const chosen = Array.from(box.querySelectorAll("select[data-column]")).filter(function (s) { return s.value !== ""; });
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const hit = (words === "" || row.textContent.toLowerCase().includes(words)) && chosen.every(function (select) {
        return row.cells[Number(select.dataset.column)].dataset.f === select.value;
      });
      row.hidden = !hit;
      if (hit) shown += 1;
    }
    const count = box.querySelector("[data-count]");
    count.textContent = box.dataset.countText.replace("{shown}", shown).replace("{all}", table.tBodies[0].rows.length);
  }
  for (const table of document.querySelectorAll("table.data.sortable")) {
    Array.from(table.tHead.rows[0].cells).forEach(function (header, column) {
      const button = header.querySelector("button");
      if (!button) return;
      button.addEventListener("click", function () {
        const first = header.dataset.type === "number" ? "descending" : "ascending";
        const second = first === "descending" ? "ascending" : "descending";
        sortTable(table, column, header.getAttribute("aria-sort") === first ? second : first);
      });
    });
  }
  for (const box of document.querySelectorAll(".filterable")) {
    box.addEventListener("input", function () { filterTable(box); });
    filterTable(box);
  }

  // ---- figures ----
  // A figure is JSON in a script element; its colours are written "var(--name)" and resolved here, so that one
  // figure serves the light and the dark theme and paper.
  const figures = new Map();
  function resolve(value, css) {
    if (typeof value === "string") {
      return value.startsWith("var(--") ? css.getPropertyValue(value.slice(4, -1)).trim() : value;
    }
    if (Array.isArray(value)) return value.map(function (item) { return resolve(item, css); });
    if (value && typeof value === "object") {
      const out = {};
      for (const name of Object.keys(value)) out[name] = resolve(value[name], css);
      return out;
    }
    return value;
  }
  function draw(name) {
    const figure = figures.get(name);
    const css = getComputedStyle(root);
    const keep = figure.choose ? figure.choose(figure.data) : figure.data;
    const layout = resolve(figure.layout, css);
    if (figure.element.clientWidth < 560) figure.narrow(layout);
    return Plotly.react(figure.element, resolve(keep, css), layout, figure.config);
  }
  // Phones: the legend goes below, margins shrink, dragging scrolls the page instead of zooming the figure.
  function narrow(layout) {
    layout.margin = Object.assign({}, layout.margin, { l: Math.min((layout.margin || {}).l || 48, 78), r: 8 });
    layout.legend = Object.assign({}, layout.legend, { orientation: "h", x: 0, xanchor: "left", y: -0.18, yanchor: "top" });
    layout.dragmode = false;
    if (layout.meta && layout.meta.narrow) Object.assign(layout, layout.meta.narrow);
  }
  function startFigures() {
    for (const element of document.querySelectorAll(".figure[data-figure]")) {
      const text = document.getElementById(element.dataset.figure).textContent;
      const spec = JSON.parse(text);
      figures.set(element.id, { element: element, data: spec.data, layout: spec.layout, narrow: narrow,
        config: { responsive: false, displaylogo: false, displayModeBar: spec.layout.dragmode ? "hover" : false, modeBarButtonsToRemove: ["select2d", "lasso2d", "toImage"] } });
      draw(element.id);
    }
  }
  function redraw() { for (const name of figures.keys()) draw(name); }
  // A window that changed its width may need the other layout; figures keep their height.
  let width = window.innerWidth, waiting = 0;
  window.addEventListener("resize", function () {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(function () {
      for (const [name, figure] of figures) { draw(name); Plotly.Plots.resize(figure.element); }
    }, 120);
  });

  // ---- theme ----
  const theme = document.getElementById("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  function isDark() { return root.dataset.theme ? root.dataset.theme === "dark" : dark.matches; }
  if (theme) theme.addEventListener("click", function () { root.dataset.theme = isDark() ? "light" : "dark"; redraw(); });
  dark.addEventListener("change", redraw);
  let beforePrint = null;
  window.addEventListener("beforeprint", function () { beforePrint = root.dataset.theme || ""; root.dataset.theme = "light"; redraw(); });
  window.addEventListener("afterprint", function () {
    if (beforePrint) root.dataset.theme = beforePrint; else delete root.dataset.theme;
    redraw();
  });

  // Pages with controls of their own set figure.choose (data -> data to draw) and call draw(name).
  window.npuRoofline = { figures: figures, draw: draw, sortTable: sortTable, filterTable: filterTable };
  if (window.Plotly) startFigures();
  document.dispatchEvent(new CustomEvent("npu-roofline:ready"));
})();
