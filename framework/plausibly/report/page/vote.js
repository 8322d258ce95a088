// 2: everything that was said against the vote, and the coverage of single cases in order.

const TIES = {
  first: "first of the tied labels", random: "one of them by lot", fractional: "a share for each",
  any: "one of them suffices", all: "all of them are needed",
};

const interval = ({ mean, low, high }) => (low === null ? share(mean) : `${share(mean)} (${share(low)} to ${share(high)})`);

/** Returns a bar from zero with its interval. */
function bar(style, { mean, low, high }, title) {
  return make("div.bar", { title: `${title} ${interval({ mean, low, high })}` },
    make(`i.long.${style}`, { style: { width: width(mean) } }),
    low !== null && make("i.from-to", { style: { left: width(low), width: width(high - low) } }));
}

/** Returns the ticks below bars or dots, from `low` to `high`. */
function axis(low, high, ticks) {
  return make("div.line.ticks", {}, make("span.label"), make("div.axis", {}, ticks.map((tick) => (
    make("span", { style: { left: width((tick - low) / (high - low)) } }, share(tick, Number.isInteger(tick * 10) ? 1 : 2))))));
}

const votedOf = (vote) => (vote.voted.find(([policy]) => policy === state.ties) || vote.voted[0])[1];

function methodBars(method, code) {
  const { vote, verdict } = DATA.views[code * DATA.alphas.length + state.alpha];
  const line = (style, label, title, value) => make("div.line", {}, make("span.label.small", {}, label),
    put(bar(style, value, title), make("i.guaranteed", { style: { left: width(1 - alphaValue()) } })),
    make("span.number", {}, share(value.mean)));
  return make("div.method", { "data-shown": code === state.method },
    make("p", { title: method.about }, make("b", {}, named(method.name)), method.reference && " (to compare)", make("span.soft.small", {},
      ` ${share(vote.size.mean, 2)} labels a set · guaranteed ${verdict.guarantee.shown}`)),
    line("said", `what ${WORDS.annotators} said`, "what was said", vote.aggregated),
    line("voted", "the vote", "the vote", votedOf(vote)),
    vote.true && line("score", "the known label", "the known label", vote.true));
}

function tiesSwitch(policies) {
  const select = make("select", { id: "ties", onchange: () => { state.ties = select.value; drawVote(); byId("ties").focus(); } },
    policies.map((policy) => make("option", { value: policy, selected: policy === state.ties }, TIES[policy] || policy)));
  return make("label.ties", {}, make("span", {}, "where votes are tied, count"), select);
}

function drawVote() {
  const { vote } = view();
  const policies = vote.voted.map(([policy]) => policy);
  if (!policies.includes(state.ties)) [state.ties] = policies;
  const at = (code) => DATA.views[code * DATA.alphas.length + state.alpha];
  fill(byId("vote-body"),
    make("p.says", {}, vote.sentence),
    policies.length > 1 && tiesSwitch(policies),
    figure({
      of: `Mean of ${examples(CASES.total)}; lines end at 95% intervals`,
      legend: [["said", "what was said"], ["voted", "the vote"], ["guarantee", `1 − alpha, ${share(1 - alphaValue(), 2)}`]],
      drawing: make("div.methods", {}, DATA.methods.map(methodBars), axis(0, 1, [0, 0.25, 0.5, 0.75, 1])),
      table: {
        caption: "Coverage and size by method",
        head: ["method", "what was said", "the vote", "labels a set", "empty", "one label", "guaranteed"],
        rows: DATA.methods.map((method, code) => [
          named(method.name), interval(at(code).vote.aggregated), interval(votedOf(at(code).vote)), interval(at(code).vote.size),
          share(at(code).vote.share_empty), share(at(code).vote.share_single), at(code).verdict.guarantee.shown]),
      },
    }),
    !besideWeak() && realisedFigure());
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
    make("text", { x: x(0.5), y: 216, "text-anchor": "middle" }, under));
  return { svg, x, y };
}

/** Returns the points of a line. */
const points = (xs, ys) => xs.map((at, i) => `${at.toFixed(1)},${ys[i].toFixed(1)}`).join(" ");

function curves({ share: at, aggregated, voted, largest }) {
  const { svg, x, y } = frame([0, 0.5, 1], 0, 1, `share of ${WORDS.examples}, least covered first`);
  const line = (style, values) => make(`polyline.${style}`, { points: points(at.map(x), values.map(y)) });
  return put(svg, line("curve.largest-line", largest), line("other", voted), line("curve", aggregated));
}

/** Whether the curves stand with what is weak: in the shorter of two neighbours. */
const besideWeak = () => view().weak.parts.length < 2.5 * DATA.methods.length;

function realisedFigure() {
  const { realised } = view();
  if (realised.share.length < 2) return make("p", {}, realised.sentence);
  return figure({
    says: realised.sentence,
    of: `${examples(CASES.total)}, each curve sorted on its own`,
    legend: [["said", "covered of what was said"], ["voted", "covered vote"], ["largest", "largest plausibility"]],
    drawing: curves(realised),
    table: {
      caption: "Coverage of single cases in ascending order",
      head: [`share of ${WORDS.examples}`, "what was said", "the vote", "largest plausibility"],
      rows: () => realised.share.map((at_, i) => [share(at_), share(realised.aggregated[i]), share(realised.voted[i]), share(realised.largest[i])]),
    },
  });
}
