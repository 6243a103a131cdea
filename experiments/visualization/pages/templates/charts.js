// Draws the charts of the page one after another, so that the page can be read at once; follows the scheme of colours;
// charts of one axis show the same range.
"use strict";
(function () {
  // Without the first two, plotly.js offers to send the figure to a server of its makers.
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

  function draw(chart) {
    const figure = JSON.parse(chart.nextElementSibling.textContent);
    const [set, font, hover] = [colours(), figure.layout.font || {}, figure.layout.hoverlabel || {}];
    figure.layout.font = Object.assign(font, { color: set["font.color"] });
    figure.layout.hoverlabel = Object.assign(hover, { bgcolor: set["hoverlabel.bgcolor"] });
    figure.layout.hoverlabel.font = { color: set["hoverlabel.font.color"] };
    figure.config = config;
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
