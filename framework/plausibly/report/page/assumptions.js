// 7: checks of the assumptions. 8: how the report was made.

const OF = { drawn: "drawn answers", "majority-vote": "the majority vote", true: "the true label" };

/** Returns a histogram of p-values with the line of a uniform distribution. */
function pColumns({ counts, n }) {
  const most = Math.max(...counts.map((value) => value / n), 1.4 / counts.length);
  const { svg, x, y } = frame([0, 1 / counts.length], 0, most, "p-value");
  const step = 438 / counts.length;
  return put(svg,
    counts.map((value, i) => make("rect.spot", { x: x(0) + i * step + 1, width: step - 2, y: y(value / n), height: y(0) - y(value / n) })),
    make("line.even", { x1: x(0), x2: x(1), y1: y(1 / counts.length), y2: y(1 / counts.length) }));
}

function pFigure(found) {
  return figure({
    says: found.sentence,
    of: `${count(found.n)} p-values of ${OF[found.of]}`,
    legend: [["said", "share of p-values"], ["even", "uniform"]],
    drawing: pColumns(found),
    table: {
      caption: `P-values of ${OF[found.of]}`,
      head: ["from", "to", "p-values", "share"],
      rows: () => found.counts.map((value, i) => [
        share(i / found.counts.length, 2), share((i + 1) / found.counts.length, 2), count(value), share(value / found.n)]),
    },
  });
}

/** Returns the coverage of all splits as stacked dots. */
function splitFigure(splits, level) {
  const bins = Math.round(Math.min(60, Math.max(12, 3 * Math.sqrt(splits.aggregated.length))));
  const low = Math.min(...splits.aggregated, level ?? 1) - 0.005;
  const high = Math.max(...splits.aggregated, level ?? 0) + 0.005;
  const span = (value) => (value - low) / (high - low);
  const heights = new Array(bins).fill(0);
  const spots = [...splits.aggregated].sort((a, b) => a - b).map((value) => {
    const bin = Math.min(bins - 1, Math.floor(span(value) * bins));
    heights[bin] += 1;
    return [(bin + 0.5) / bins, heights[bin]];
  });
  const tall = Math.max(5, ...heights);
  const x = (value) => 12 + value * 456;
  const svg = make("svg.plot", { viewBox: "0 0 480 222", role: "presentation" },
    make("line.grid", { x1: x(0), x2: x(1), y1: 190, y2: 190 }),
    spots.map(([at, place]) => make("circle.spot", { cx: x(at), cy: 190 - (place - 0.5) * (176 / tall), r: Math.min(220 / bins, 84 / tall, 7) })),
    level !== null && make("line.even", { x1: x(span(level)), x2: x(span(level)), y1: 8, y2: 190 }),
    [0, 0.5, 1].map((at) => make("text", { x: x(at), y: 207, "text-anchor": ["start", "middle", "end"][at * 2] }, share(low + at * (high - low)))));
  return figure({
    says: splits.sentence,
    of: `${counted(splits.aggregated.length, "split")}, one dot each`,
    legend: [["dot", "coverage of one split"], level !== null && ["guarantee", "guaranteed on average"]].filter(Boolean),
    drawing: svg,
    table: {
      caption: "Coverage of each split", head: ["split", "coverage"],
      rows: () => splits.aggregated.map((value, i) => [i + 1, share(value)]),
    },
  });
}

function checkFold(check) {
  const [style, shape, title] = SIGNS[check.state];
  return make("details", { "data-check": check.name },
    make("summary", {}, make(`b.${style}`, { "aria-hidden": "true" }, shape), make("span", {}, check.title), make("span.soft.small", {}, title)),
    make("p", {}, check.words));
}

function drawAssumptions() {
  const { assumptions } = DATA;
  const { splits, weak } = view();
  const shown = assumptions.uniformity.filter((found) => found.method === state.method);
  const open = new Set([...byId("assumptions-body").querySelectorAll("details[open]")].map((one) => one.dataset.check));
  fill(byId("assumptions-body"),
    make("p.says", {}, assumptions.sentence),
    make("div.checks", {}, assumptions.checks.map(checkFold)),
    make("div.several", {}, shown.map(pFigure), splits && splitFigure(splits, weak.level)),
    assumptions.nothing[state.method] && make("p.soft", {}, assumptions.nothing[state.method]));
  for (const one of byId("assumptions-body").querySelectorAll("details")) one.open = open.has(one.dataset.check);
}

function copied(text, words, id) {
  const button = make("button.button", { type: "button", id, onclick: () => copy(text, button) }, words);
  return button;
}

/** Draws section 8. */
function drawMade() {
  const { provenance } = DATA;
  fill(byId("made-body"),
    make("p.says", {}, provenance.sentence),
    provenance.command && make("div.command", {}, make("pre", { tabindex: "0", "aria-label": "Command" }, provenance.command), copied(provenance.command, "Copy command", "copy-command")),
    facts(provenance.rows),
    make("div", {},
      provenance.study && make("details", {}, make("summary", {}, "Study file, with all defaults"),
        make("div.command", {}, make("pre", { tabindex: "0", "aria-label": "Study file" }, provenance.study), copied(provenance.study, "Copy study file", "copy-study"))),
      make("details", {}, make("summary", {}, "Versions"), make("div", {}, facts(provenance.versions)))));
}
