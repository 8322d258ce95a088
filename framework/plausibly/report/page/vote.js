// 2: coverage of all answers and of the majority vote, and the coverage of single cases in order.

const interval = ({ mean, low, high }) => (low === null ? share(mean) : `${share(mean)} (${share(low)} to ${share(high)})`);

/** Returns a bar from zero with its interval. */
function bar(style, { mean, low, high }, title) {
  return make("div.bar", { title: `${title} ${interval({ mean, low, high })}` },
    make(`i.long.${style}`, { style: { width: width(mean) } }),
    low !== null && make("i.from-to", { style: { left: width(low), width: width(high - low) } }));
}

/** Returns the ticks below bars or dots, from 0 to 1. */
function axis() {
  return make("div.line.ticks", {}, make("span.label"), make("div.axis", {}, [0, 0.25, 0.5, 0.75, 1].map((tick) => (
    make("span", { style: { left: width(tick) } }, share(tick, tick % 0.5 ? 2 : 1))))));
}

function methodBars(method, code) {
  const { vote, verdict } = DATA.views[code * DATA.alphas.length + state.alpha];
  const line = (style, label, title, value) => make("div.line", {}, make("span.label.small", {}, label),
    put(bar(style, value, title), make("i.guaranteed", { style: { left: width(1 - alphaValue()) } })),
    make("span.number", {}, share(value.mean)));
  return make("div.method", { "data-shown": code === state.method },
    make("p", { title: method.about }, make("b", {}, named(method.name)), method.reference && " (to compare)", make("span.soft.small", {},
      ` ${share(vote.size.mean, 2)} labels per set · guarantee ${verdict.guarantee.shown}`)),
    line("said", "all answers", "all answers", vote.aggregated),
    line("voted", "majority vote", "majority vote", vote.voted),
    vote.true && line("score", "true label", "true label", vote.true));
}

function drawVote() {
  const { vote } = view();
  const at = (code) => DATA.views[code * DATA.alphas.length + state.alpha];
  fill(byId("vote-body"),
    make("p.says", {}, vote.sentence),
    figure({
      of: `Mean of ${examples(CASES.total)} with 95% intervals`,
      legend: [["said", "all answers"], ["voted", "majority vote"], ["guarantee", `1 − alpha, ${share(1 - alphaValue(), 2)}`]],
      drawing: make("div.methods", {}, DATA.methods.map(methodBars), axis()),
      table: {
        caption: "Coverage and size by method",
        head: ["method", "all answers", "majority vote", "labels per set", "empty", "one label", "guarantee"],
        rows: DATA.methods.map((method, code) => [
          named(method.name), interval(at(code).vote.aggregated), interval(at(code).vote.voted), interval(at(code).vote.size),
          share(at(code).vote.share_empty), share(at(code).vote.share_single), at(code).verdict.guarantee.shown]),
      },
    }));
}

/** Returns a frame of 480 x 200 with a grid, and where shares lie in it. */
function frame(ticks, low = 0, high = 1, under = "") {
  const x = (value) => 34 + value * 438;
  const y = (value) => 186 - ((value - low) / (high - low)) * 176;
  const svg = make("svg.plot", { viewBox: "0 0 480 222", role: "presentation" },
    ticks.map((tick) => [
      make("line.grid", { x1: x(0), x2: x(1), y1: y(tick), y2: y(tick) }),
      make("text", { x: 28, y: y(tick) + 4, "text-anchor": "end" }, share(tick, 2).replace(/0$/, "")),
    ]),
    [0, 1].map((at) => make("text", { x: x(at), y: 203, "text-anchor": at ? "end" : "start" }, share(at, 1))),
    make("text", { x: x(0.5), y: 216, "text-anchor": "middle" }, under));
  return { svg, x, y };
}

/** Returns the points of a line. */
const points = (xs, ys) => xs.map((at, i) => `${at.toFixed(1)},${ys[i].toFixed(1)}`).join(" ");

function curves({ share: at, aggregated, voted, largest }) {
  const { svg, x, y } = frame([0, 0.5, 1], 0, 1, `share of ${WORDS.examples}, lowest coverage first`);
  const line = (style, values) => make(`polyline.${style}`, { points: points(at.map(x), values.map(y)) });
  return put(svg, line("curve.largest-line", largest), line("other", voted), line("curve", aggregated));
}

const LOWEST_SIZES = 420; // pixels of the section below, which grows with its column

/** Draws the curves in the shorter one of the two columns, below all that stands there. */
function placeRealised() {
  byId("realised")?.remove();
  const bottom = (id) => byId(id).lastElementChild.getBoundingClientRect().bottom;
  const home = bottom("vote-body") + LOWEST_SIZES < bottom("weak-body") ? "vote-body" : "weak-body";
  byId(home).append(make("div", { id: "realised" }, realisedFigure()));
}

function realisedFigure() {
  const { realised } = view();
  if (realised.share.length < 2) return make("p", {}, realised.sentence);
  return figure({
    says: realised.sentence,
    of: `${examples(CASES.total)}; each curve is sorted separately`,
    legend: [["said", "coverage of all answers"], ["voted", "majority vote covered"], ["largest", "share of the most frequent answer"]],
    drawing: curves(realised),
    table: {
      caption: "Coverage of single cases in ascending order",
      head: [`share of ${WORDS.examples}`, "all answers", "majority vote", "most frequent answer"],
      rows: () => realised.share.map((at_, i) => [share(at_), share(realised.aggregated[i]), share(realised.voted[i]), share(realised.largest[i])]),
    },
  });
}
