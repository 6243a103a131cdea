// Draws the charts one after another, so that the page can be read meanwhile; follows light and dark mode; charts with
// the same meta.axis show the same range.
"use strict";
(function () {
  // Without the first two, plotly.js offers to send the figure to its makers' server.
  const config = {
    showSendToCloud: false, plotlyServerURL: "",
    responsive: true, displaylogo: false, toImageButtonOptions: { format: "svg" },
    modeBarButtonsToRemove: ["select2d", "lasso2d", "zoomIn2d", "zoomOut2d"],
  };
  const charts = Array.from(document.querySelectorAll(".chart"));
  const drawn = [];
  const scheme = window.matchMedia("(prefers-color-scheme: dark)");

  function colours() {
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink").trim();
    const back = style.getPropertyValue("--back").trim();
    return { "font.color": ink, "hoverlabel.bgcolor": back, "hoverlabel.font.color": ink };
  }

  function axes(layout) {
    return Object.keys(layout).filter((name) => /^xaxis\d*$/.test(name));
  }

  function follow(chart) {
    const axis = (chart.layout.meta || {}).axis;
    if (!axis) return;
    chart.on("plotly_relayout", (change) => {
      if (chart.following) return;
      const name = Object.keys(change).find((key) => /^xaxis\d*\.(range\[0\]|range|autorange)$/.test(key));
      if (!name) return;
      const first = name.split(".")[0];
      const range = change[first + ".range"] || [change[first + ".range[0]"], change[first + ".range[1]"]];
      for (const other of drawn) {
        if (other === chart || (other.layout.meta || {}).axis !== axis) continue;
        const update = {};
        for (const x of axes(other.layout)) {
          if (change[first + ".autorange"]) update[x + ".autorange"] = true;
          else update[x + ".range"] = range.slice();
        }
        other.following = true;
        Plotly.relayout(other, update).then(() => { other.following = false; });
      }
    });
  }

  // [px] width of a chart below which its legends are above its panels; height of a line of a legend, and of a colour
  // scale; margins at the sides; width of a letter, and of a legend's entry without its text.
  const [NARROW, LINE, SCALE, SIDES, LETTER, STROKE] = [640, 20, 70, [58, 14], 6.4, 44];

  // Returns for each legend the top of the panel above which it goes, and the number of its lines.
  function legends(figure, width, tops) {
    const entries = {};
    for (const trace of figure.data) {
      if (trace.showlegend === false || !trace.name || trace.type === "heatmap") continue;
      const entry = entries[trace.legend || "legend"] = entries[trace.legend || "legend"] || { sizes: [] };
      entry.sizes.push(STROKE + LETTER * trace.name.length);
    }
    for (const [name, legend] of Object.entries(entries)) {
      const sum = legend.sizes.reduce((total, size) => total + size, 0);
      const columns = sum <= width ? legend.sizes.length : Math.max(1, Math.floor(width / Math.max(...legend.sizes)));
      legend.lines = Math.ceil(legend.sizes.length / columns);  // if there are several, all entries have the largest width
      const y = (figure.layout[name] || {}).y;
      legend.top = tops.find((top) => Math.abs(top - y) < 1e-6) || tops[0];
    }
    return entries;
  }

  // Gives the panels the full width: legends are below the panels' titles, colour scales below all panels.
  function narrow(figure, width) {
    const layout = figure.layout;
    const margin = layout.margin = Object.assign({ t: 34, b: 46 }, layout.margin);
    margin.l = margin.l === undefined ? SIDES[0] : margin.l;
    const names = Object.keys(layout).filter((name) => /^(yaxis|polar)\d*$/.test(name));
    margin.r = SIDES[names.some((name) => /^polar/.test(name)) ? 0 : 1];  // directions are written around a circle
    const domain = (name) => (/^polar/.test(name) ? layout[name].domain || {} : { y: layout[name].domain }).y || [0, 1];
    const tops = [...new Set(names.map((name) => domain(name)[1]))].sort((a, b) => b - a);
    const above = legends(figure, width - margin.l - margin.r, tops.length ? tops : [1]);
    const space = (top) => LINE * Math.max(0, ...Object.values(above).filter((each) => each.top === top).map((each) => each.lines));
    const inner = layout.height - margin.t - margin.b;
    const more = tops.reduce((sum, top) => sum + space(top), 0);
    const first = tops.length ? space(tops[0]) : 0;
    const shift = (top) => tops.filter((y) => y >= top - 1e-6).reduce((sum, y) => sum + space(y), 0) - first;
    const tall = inner + more - first;
    const moved = (y, top) => 1 - ((1 - y) * inner + shift(top)) / tall;
    for (const note of layout.annotations || []) {
      const top = tops.find((y) => Math.abs(y - note.y) < 1e-6);
      if (note.yref !== "paper" || top === undefined) continue;
      note.y = moved(note.y, top);
      if (note.yanchor === "bottom") note.yshift = (note.yshift || 0) + space(top);
    }
    for (const name of names) {
      const [low, high] = domain(name);
      const fresh = [Math.max(moved(low, high), 0), moved(high, high)];
      if (/^polar/.test(name)) layout[name].domain = Object.assign({}, layout[name].domain, { y: fresh });
      else Object.assign(layout[name], { domain: fresh, automargin: true });
    }
    for (const [name, legend] of Object.entries(above)) {
      const y = moved(legend.top, legend.top);
      layout[name] = Object.assign({}, layout[name], { orientation: "h", x: 0, xanchor: "left", y: y, yanchor: "bottom" });
    }
    margin.t += first;
    layout.height += more;
    for (const trace of figure.data.filter((item) => item.type === "heatmap" || (item.marker || {}).showscale)) {
      const bar = trace.type === "heatmap" ? trace : trace.marker;
      const title = Object.assign({}, (bar.colorbar || {}).title, { side: "top" });
      const place = { orientation: "h", yref: "container", y: 0, yanchor: "bottom", x: 0.5, xanchor: "center" };
      bar.colorbar = Object.assign({}, bar.colorbar, place, { thickness: 10, title: title });
    }
    if (figure.data.some((item) => item.type === "heatmap" || (item.marker || {}).showscale)) {
      margin.b += SCALE;
      layout.height += SCALE;
    }
  }

  function draw(chart) {
    const figure = JSON.parse(chart.nextElementSibling.textContent);
    const [set, font, hover] = [colours(), figure.layout.font || {}, figure.layout.hoverlabel || {}];
    figure.layout.font = Object.assign(font, { color: set["font.color"] });
    figure.layout.hoverlabel = Object.assign(hover, { bgcolor: set["hoverlabel.bgcolor"] });
    figure.layout.hoverlabel.font = { color: set["hoverlabel.font.color"] };
    figure.config = config;
    if (chart.clientWidth < NARROW) {
      narrow(figure, chart.clientWidth);
      chart.style.height = figure.layout.height + "px";
    }
    return Plotly.newPlot(chart, figure).then(() => {
      drawn.push(chart);
      follow(chart);
      chart.dataset.drawn = "yes";
    });
  }

  function next() {
    const chart = charts.shift();
    if (!chart) return;
    draw(chart).catch((error) => {
      chart.dataset.drawn = "no";
      chart.textContent = "This figure could not be drawn: " + error;
      console.error(error);
    }).then(() => setTimeout(next, 0));
  }

  scheme.addEventListener("change", () => drawn.forEach((chart) => Plotly.relayout(chart, colours())));
  window.addEventListener("beforeprint", () => drawn.forEach((chart) => Plotly.Plots.resize(chart)));
  next();
})();
