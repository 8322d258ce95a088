// One case: answers, model and p-value of each label on one scale from 0 to 1, and its set.

/** Returns the names in the set, in label order: a set is no ranking. */
function setNames(i) {
  const size = CASES.size[viewIndex()][i];
  if (size === 0) return "no label";
  if (size === LABELS.length && size > 1) return `all ${size} labels`;
  const codes = CASES.listed[i].filter((_, j) => inSet(i, j));
  const more = size - codes.length;
  return [labelNames(codes), more > 0 && ` and ${count(more)} more`];
}

/** Returns the columns of numbers: a title, a style, and the value from 0 to 1 of label j, if it has one. */
function columnsOf(i) {
  const thousandths = (values) => (j) => (values ? values[i][j] / 1000 : null);
  const score = CASES.scores[DATA.methods[state.method].score];
  const columns = [["answers", "said", thousandths(CASES.plausibility)]];
  if (CASES.prediction) columns.push(["model", "score", thousandths(CASES.prediction)]);
  if (score?.values) columns.push(["score", null, thousandths(score.values)]);
  if (CASES.p[state.method]) columns.push(["p", "p", thousandths(CASES.p[state.method])]);
  return columns;
}

function judgement(i, j, columns) {
  const label = LABELS[CASES.listed[i][j]];
  const inside = inSet(i, j);
  const answered = CASES.plausibility[i][j] > 0;
  const bars = columns.filter(([, style]) => style).map(([, style, value]) => make(`i.of-${style}${style === "p" ? "" : `.${style === "said" && !inside ? "missed" : style}`}`, {
    style: { width: width(value(j)) },
  }));
  return make(`div.judge${inside ? ".in" : ""}`, { role: "row", "data-label": label.name },
    make("span.label", { role: "rowheader" }, named(label.name),
      make("span.tag", {}, make(inside ? "b.good" : answered ? "b.bad" : "b", { "aria-hidden": "true" }, inside ? "● " : answered ? "▲ " : "○ "),
        inside ? "in the set" : answered ? "answered, left out" : "left out", label.risk && ` · risk ${label.risk}`)),
    make("span.scale", { "aria-hidden": "true" }, bars, CASES.p[state.method] && make("i.at-alpha", { style: { left: width(alphaValue()) } })),
    columns.map(([title, , value]) => make("span.number", { role: "cell", "data-value": title }, share(value(j), title === "answers" ? 2 : 3))));
}

function judgements(i) {
  const columns = columnsOf(i);
  return make("div.judged", { role: "table", "aria-label": "Labels", style: { "--numbers": columns.length } },
    make("div.judge.head", { role: "row" }, make("span", { role: "columnheader" }, "label"), make("span", { "aria-hidden": "true" }, "0 to 1"),
      columns.map(([title]) => make("span.number", { role: "columnheader" }, title))),
    CASES.listed[i].map((_, j) => judgement(i, j, columns)));
}

/** Returns an answer in its own order; labels of one rank stay together. */
function answer(blocks) {
  if (!blocks.length) return make("span.soft", {}, "an empty answer");
  const block = (codes, place) => make(codes.length > 1 && CASES.ranked ? "span.block.tied" : "span.block", {},
    CASES.ranked && make("span.soft", {}, `${place + 1}. `),
    codes.flatMap((code, n) => [n > 0 && (CASES.ranked ? " = " : ", "), named(LABELS[code].name)]));
  return blocks.flatMap((codes, place) => [place > 0 && "  ", block(codes, place)]);
}

/** Returns the answers, equal ones together, the most frequent first. */
function answersOf(i) {
  const equal = new Map();
  for (const [annotator, blocks, weight] of CASES.answers[i]) {
    const key = JSON.stringify(blocks);
    if (!equal.has(key)) equal.set(key, { blocks, n: 0, annotators: [] });
    const one = equal.get(key);
    one.n += weight;
    if (annotator >= 0) one.annotators.push(CASES.annotators[annotator]);
  }
  const most = 12;
  const people = ({ annotators }) => annotators.length > 0 && make("span.who", {},
    "  ", namesOf(annotators.slice(0, most)), annotators.length > most && ` and ${annotators.length - most} others`);
  return [...equal.values()].sort((a, b) => b.n - a.n).map((one) => make("li", {},
    make("b.number", {}, `${pairsOf(one.n)}×`), make("span", {}, answer(one.blocks), people(one))));
}

/** Returns the contents of one case. */
function caseOf(i) {
  const at = viewIndex();
  const out = CASES.missed[at][i] / 1000;
  const link = make("button.button.slight", { type: "button", onclick: () => copy(location.href.split("#")[0] + addressOf(i), link) }, "Copy link");
  const groups = DATA.groups.map((column, c) => [column.name, named(column.values[CASES.groups[c][i]] ?? "–")]);
  return [
    make("header", {}, make("h3", {}, named(CASES.names[i])), link),
    make("p", {}, make("b", {}, "Set: "), setNames(i), make("span.soft", {},
      ` · contains ${share(1 - out, 2)} of the answers`)),
    CASES.thumbnail?.[i] && make("img.thumb", { src: CASES.thumbnail[i], alt: `Picture of ${CASES.names[i]}` }),
    CASES.text?.[i] && make("p.written", { dir: "auto", tabindex: "0" }, CASES.text[i]),
    make("ul.legend", {}, [["said", "answers, in the set"], ["missed", "answers, left out"], CASES.prediction && ["score", CASES.prediction_words || "the model's score"], ...(CASES.p[state.method] ? [["diamond", "p-value"], ["alpha", `alpha ${DATA.alphas[state.alpha]}`]] : [])]
      .filter(Boolean).map(([kind, text]) => make("li", {}, make(`span.key.${kind}`, { "aria-hidden": "true" }), text))),
    judgements(i),
    CASES.unlisted[i] > 0 && make("p.soft.small", {}, `${counted(CASES.unlisted[i], "label")} more: ${CASES.unlisted_words}`),
    CASES.answers[i].length > 0 && make("div", {}, make("h3", {}, `Answers of the ${WORDS.annotators}`), make("ul.words", {}, answersOf(i))),
    groups.length > 0 && facts(groups),
  ];
}
