// 3: where sets cover less than is guaranteed on average. 5: how large they are.

const KINDS = { ambiguity: `How much ${WORDS.annotators} agree`, group: "Groups", crossed: "Groups within groups" };
const FEW = 12;

/** Returns a scale that holds all intervals, with ticks at round places. */
function scaleOf(lows) {
  const least = Math.min(...lows.filter((value) => value !== null), 1);
  const step = least < 0.5 ? 0.25 : least < 0.8 ? 0.1 : 0.05;
  const low = Math.max(0, Math.min(1 - step * 2, Math.floor(least / step) * step));
  const ticks = [];
  for (let tick = low; tick < 1 + step / 2; tick += step) ticks.push(Math.min(1, Math.round(tick * 100) / 100));
  return { low, ticks, at: (value) => width((value - low) / (1 - low)) };
}

function partLine(part, scale, level) {
  const { mean, low, high } = part.covered;
  const [key, test] = partOf(part.where, part.stratum);
  return make("button.line", { ...picks("part", key, part.title, test), disabled: part.n === 0, title: `${part.title}: ${interval(part.covered)}` },
    make("span.label", {}, make("span.clip", {}, named(part.title), " ", make("small", {}, `n ${count(part.n)}`)),
      part.clear && make("span.unseen", {}, ", clearly below what is guaranteed")),
    make("span.rail", { "aria-hidden": "true" },
      level !== null && make("i.guaranteed", { style: { left: scale.at(level) } }),
      low !== null && make("i.from-to", { style: { left: scale.at(low), width: width((high - low) / (1 - scale.low)) } }),
      mean !== null && make(part.clear ? "i.point.weak" : "i.point", { style: { left: scale.at(mean) } })),
    make("span.number", {}, share(mean)));
}

function partLines(kind, parts, scale, level) {
  const of = parts.filter((part) => part.kind === kind);
  if (!of.length) return null;
  const rows = make("div.rows", {}, of.slice(0, FEW).map((part) => partLine(part, scale, level)));
  const more = of.length > FEW && make("button.button.slight", {
    type: "button",
    onclick: () => {
      put(rows, of.slice(FEW).map((part) => partLine(part, scale, level)));
      more.remove();
      rows.children[FEW].focus();
    },
  }, `Show all ${of.length}`);
  return make("div.kind", {}, make("h3", {}, KINDS[kind]), rows, more);
}

function drawWeak() {
  const { weak } = view();
  const scale = scaleOf([...weak.parts.map((part) => part.covered.low ?? part.covered.mean), weak.level]);
  fill(byId("weak-body"),
    make("p.says", {}, weak.sentence),
    weak.parts.length > 0 && figure({
      of: [weak.note, make("span.choose", {}, ` Choose a row to see its ${WORDS.examples}.`)],
      operable: true,
      legend: [["dot", "covered of what was said"], ["triangle", "clearly less than guaranteed"], ["guarantee", "guaranteed on average"]],
      drawing: make("div.kinds", {},
        Object.keys(KINDS).map((kind) => partLines(kind, weak.parts, scale, weak.level)),
        make("div", { "aria-hidden": "true" }, axis(scale.low, 1, scale.ticks))),
      table: {
        caption: "Coverage by group",
        head: ["group", "n", "covered of what was said", "labels a set", "clearly less than guaranteed"],
        rows: () => weak.parts.map((part) => [named(part.title), count(part.n), interval(part.covered), share(part.size.mean, 2), part.clear ? "yes" : "no"]),
      },
    }),
    weak.nothing && make("p.soft", {}, weak.nothing),
    besideWeak() && realisedFigure());
}

const sizeWords = ({ low, high }) => (low === high ? counted(low, "label") : `${low} to ${high} labels`);

function sizeColumn(bar, most) {
  const [low, high] = [bar.low, bar.high];
  const test = (i) => { const size = CASES.size[viewIndex()][i]; return size >= low && size <= high; };
  const covered = bar.count ? `, ${share(bar.covered.mean)} of what was said covered` : "";
  const title = `${sizeWords(bar)}: ${examples(bar.count)}${covered}`;
  return make("button.column", {
    ...picks("size", `${low}-${high}`, `sets of ${sizeWords(bar)}`, test), disabled: !bar.count,
    "aria-label": title, title,
  },
  make("span.value", {}, count(bar.count)),
  make("i.said", { style: { height: `${(bar.count / most) * 70}%` } }),
  make("span.at", {}, low === high ? low : `${low}–${high}`));
}

function drawSizes() {
  const { sizes } = view();
  const most = Math.max(1, ...sizes.bars.map((bar) => bar.count));
  fill(byId("sizes-body"),
    make("p.says", {}, sizes.sentence),
    figure({
      of: [`${examples(CASES.total)} by labels in the set.`, make("span.choose", {}, ` Choose a bar to see its ${WORDS.examples}.`)],
      operable: true,
      drawing: make("div.columns", { role: "group", "aria-label": "Sets by size" }, sizes.bars.map((bar) => sizeColumn(bar, most))),
      table: {
        caption: "Sets by size",
        head: ["labels", WORDS.examples, "share", "covered of what was said"],
        rows: () => sizes.bars.map((bar) => [sizeWords(bar), count(bar.count), share(bar.count / Math.max(1, CASES.total)), interval(bar.covered)]),
      },
    }));
}
