// 5: the labels on which annotators disagree, and the annotators.

const DIFFER = { key: null, down: true };
const SIDE_BY_SIDE = 8; // most labels whose heat map takes half of the width
const DEEPEST = 0.72; // the strongest colour on which a number can be read

/** Returns a number of pairs, whole where it is whole. */
const pairsOf = (value) => (Number.isInteger(value) ? count(value) : count(Math.round(value * 10) / 10));

function heatMap({ labels, cells }) {
  const most = Math.max(...cells.filter(({ a, b }) => a !== b).map((cell) => cell.pairs), 1e-9);
  const byPair = new Map(cells.flatMap((cell) => [[`${cell.a} ${cell.b}`, cell], [`${cell.b} ${cell.a}`, cell]]));
  const cellOf = (row, column) => {
    const cell = byPair.get(`${row} ${column}`);
    if (!cell) return make("span.cell.soft", {}, make("span", { "aria-hidden": "true" }, "·"), make("span.unseen", {}, "0"));
    const same = row === column;
    const words = same ? `${LABELS[row].name}, answered more than once` : `${LABELS[cell.a].name} or ${LABELS[cell.b].name}`;
    const title = `${words}: ${pairsOf(cell.pairs)} pairs of answers in ${examples(cell.examples)}`;
    return make(same ? "button.self" : "button", {
      ...picks("cell", `${cell.a} ${cell.b}`, words, (i) => (same ? agrees(i, row) : disagree(i, cell.a, cell.b))),
      style: { "--depth": same ? 0 : ((cell.pairs / most) * DEEPEST).toFixed(3) },
      "aria-label": title, title,
    }, pairsOf(cell.pairs));
  };
  return make("div.scroller", { tabindex: "0", role: "region", "aria-label": "Labels on which answers differ" },
    make(labels.length > 12 ? "table.heat.many" : "table.heat", {},
      make("caption.unseen", {}, "Pairs of answers by label"),
      make("thead", {}, make("tr", {}, make("td"), labels.map((code) => make("th", { scope: "col" }, named(LABELS[code].name))))),
      make("tbody", {}, labels.map((row) => make("tr", {},
        make("th", { scope: "row" }, named(LABELS[row].name)), labels.map((column) => make("td", {}, cellOf(row, column))))))));
}

const measureRows = (measures) => measures.map((measure) => [
  measure.title, measure.value.mean === null ? measure.reason : interval(measure.value)]);

const COLUMNS = [
  ["name", "annotator"], ["answers", "answers"], ["agreement", "agreement with others"], ["vote", "agreement with majority"],
  ["says_share", "used more often"],
];

function annotatorTable(rows) {
  const sorted = [...rows];
  if (DIFFER.key) {
    sorted.sort((a, b) => {
      const [x, y] = [a[DIFFER.key], b[DIFFER.key]];
      if (x === null || y === null) return (x === null) - (y === null);
      return (DIFFER.down ? -1 : 1) * (typeof x === "string" ? TIDY.compare(x, y) : x - y);
    });
  }
  const often = (row) => row.says !== null && [named(LABELS[row.says].name), ` ${share(row.says_share, 2)} (others ${share(row.says_others, 2)})`];
  const answered = (name) => {
    const place = CASES.annotators.indexOf(name);
    return (i) => CASES.answers[i].some(([annotator]) => annotator === place);
  };
  return make("table.sortable", {},
    make("caption.unseen", {}, `The ${WORDS.annotators}; buttons in the header sort`),
    make("thead", {}, make("tr", {}, COLUMNS.map(([key, title]) => make(`th${["name", "says_share"].includes(key) ? "" : ".number"}`, {
      scope: "col", "aria-sort": DIFFER.key === key ? (DIFFER.down ? "descending" : "ascending") : null,
    }, make("button", { type: "button", "data-key": key, onclick: () => sortAnnotators(key) }, key === "name" ? WORDS.annotator : title))))),
    make("tbody", {}, sorted.map((row) => make("tr", {},
      make("th", { scope: "row" },
        row.low && make("b.bad", { title: "agrees less than the others do" }, "▲ ", make("span.unseen", {}, "differs: ")),
        make("button.button.slight", picks("annotator", row.name, `answered by ${row.name}`, answered(row.name)), make("span.clip", {}, named(row.name)))),
      make("td.number", {}, count(row.answers)),
      make("td.number", {}, share(row.agreement, 2), make("span.soft.small", { title: "the others among themselves, on the same examples" }, ` of ${share(row.others, 2)}`)),
      make("td.number", {}, share(row.vote, 2)),
      make("td.long", {}, often(row) || "–")))));
}

function sortAnnotators(key) {
  DIFFER.down = DIFFER.key === key ? !DIFFER.down : key !== "name" && key !== "agreement";
  DIFFER.key = key;
  const place = byId("annotators");
  fill(place, annotatorTable(DATA.disagreement.annotators));
  place.querySelector(`[data-key="${key}"]`).focus();
}

function pairsFigure(found) {
  return figure({
    of: [found.note, make("span.choose", {}, ` Choose a cell to see its ${WORDS.examples}.`)],
    operable: true,
    drawing: heatMap(found),
    table: {
      caption: "Labels on which answers differ",
      head: ["label", "and", "pairs of answers", WORDS.examples],
      rows: () => [...found.cells].sort((x, y) => (x.a === x.b) - (y.a === y.b) || y.pairs - x.pairs).map((cell) => [
        named(LABELS[cell.a].name), named(LABELS[cell.b].name), pairsOf(cell.pairs), count(cell.examples)]),
    },
  });
}

/** Draws section 5, which depends on no method. */
function drawDisagreement() {
  const { disagreement: found } = DATA;
  const people = found.annotators.length > 0;
  const pairs = found.cells.some(({ a, b }) => a !== b);
  const beside = pairs && found.labels.length <= SIDE_BY_SIDE && (people || found.measures.length > 0);
  const measures = found.measures.length > 0 && make("div", {}, make("h3", {}, "Measures of agreement"), facts(measureRows(found.measures)));
  fill(byId("disagree-body"),
    make("p.says", {}, found.sentence),
    found.nothing && found.nothing !== found.sentence && make("p.soft", {}, found.nothing),
    make(beside ? "div.beside" : "div.body", {},
      pairs && make("div.body", {}, pairsFigure(found), people && measures),
      make("div.body", {},
        found.who && make("p", {}, found.who),
        people && make("div.table", { id: "annotators", tabindex: "0", role: "region", "aria-label": WORDS.annotators },
          annotatorTable(found.annotators)),
        !(pairs && people) && measures)));
}
