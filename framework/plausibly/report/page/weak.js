// 3: size of the sets. 4: coverage by group, beside the average that is guaranteed.

const KINDS = { ambiguity: "Share of the most frequent answer", group: "Groups", crossed: "Combinations of groups" };
const FEW = 12;

function partLine(part, level) {
  const { mean, low, high } = part.covered;
  const [key, test] = partOf(part.where, part.stratum);
  return make("button.line", { ...picks("part", key, part.title, test), disabled: part.n === 0, title: `${part.title}: ${interval(part.covered)}` },
    make("span.label", {}, make("span.clip", {}, named(part.stratum === null ? part.title : DATA.strata[part.stratum]), " ", make("small", {}, `n ${count(part.n)}`)),
      part.clear && make("span.unseen", {}, ", below the guarantee")),
    make("span.rail", { "aria-hidden": "true" },
      level !== null && make("i.guaranteed", { style: { left: width(level) } }),
      low !== null && make("i.from-to", { style: { left: width(low), width: width(high - low) } }),
      mean !== null && make(part.clear ? "i.point.weak" : "i.point", { style: { left: width(mean) } })),
    make("span.number", {}, share(mean)));
}

function partLines(kind, parts, level) {
  const of = parts.filter((part) => part.kind === kind);
  if (!of.length) return null;
  const rows = make("div.rows", {}, of.slice(0, FEW).map((part) => partLine(part, level)));
  const more = of.length > FEW && make("button.button.slight", {
    type: "button",
    onclick: () => {
      put(rows, of.slice(FEW).map((part) => partLine(part, level)));
      more.remove();
      rows.children[FEW].focus();
    },
  }, `Show all ${of.length}`);
  return make("div.kind", {}, make("h3", {}, KINDS[kind]), rows, more);
}

function drawWeak() {
  const { weak } = view();
  fill(byId("weak-body"),
    make("p.says", {}, weak.sentence),
    weak.parts.length > 0 && figure({
      of: [weak.note, make("span.choose", {}, ` Choose a row to see its ${WORDS.examples}.`)],
      operable: true,
      legend: [["dot", "coverage"], weak.level !== null && ["triangle", "below the guarantee"], weak.level !== null && ["guarantee", "guaranteed on average"]].filter(Boolean),
      drawing: make("div.kinds", {},
        Object.keys(KINDS).map((kind) => partLines(kind, weak.parts, weak.level)),
        make("div", { "aria-hidden": "true" }, axis())),
      table: {
        caption: "Coverage by group",
        head: ["group", WORDS.examples, "coverage", "labels per set", "below the guarantee"],
        rows: () => weak.parts.map((part) => [named(part.title), count(part.n), interval(part.covered), share(part.size.mean, 2), part.clear ? "yes" : "no"]),
      },
    }),
    weak.nothing && make("p.soft", {}, weak.nothing));
}

const sizeWords = ({ low, high }) => (low === high ? counted(low, "label") : `${low} to ${high} labels`);

function sizeColumn(bar, most) {
  const [low, high] = [bar.low, bar.high];
  const test = (i) => { const size = CASES.size[viewIndex()][i]; return size >= low && size <= high; };
  const covered = bar.count ? `, ${share(bar.covered.mean)} of the answers covered` : "";
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
      of: [`${examples(CASES.total)} by number of labels in the set.`, make("span.choose", {}, ` Choose a bar to see its ${WORDS.examples}.`)],
      operable: true,
      drawing: make("div.bars", { role: "group", "aria-label": "Sets by size" }, sizes.bars.map((bar) => sizeColumn(bar, most))),
      table: {
        caption: "Sets by size",
        head: ["labels", WORDS.examples, "share", "coverage"],
        rows: () => sizes.bars.map((bar) => [sizeWords(bar), count(bar.count), share(bar.count / Math.max(1, CASES.total)), interval(bar.covered)]),
      },
    }));
}
