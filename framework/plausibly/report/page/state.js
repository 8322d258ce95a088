// The state of the page: method, alpha, search, filters, order, and the open case.

const DATA = JSON.parse(byId("data").textContent);
const { words: WORDS, cases: CASES, labels: LABELS } = DATA;
const TIDY = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

const state = {
  method: 0,
  alpha: 0,
  query: "",
  label: -1,
  picks: new Map(), // by kind of chart: the filter that was clicked
  sort: "missed",
  found: [],
  open: -1,
};

const viewIndex = () => state.method * DATA.alphas.length + state.alpha;
const view = () => DATA.views[viewIndex()];

/** Returns alpha as a number; it may have been typed as a fraction. */
function alphaValue() {
  const [above, below = 1] = DATA.alphas[state.alpha].split("/");
  return above / below;
}

const examples = (n) => counted(n, WORDS.example, WORDS.examples);
const labelNames = (codes) => namesOf(codes.map((code) => LABELS[code].name));

const watchers = { view: [], cases: [] };

/** Calls a function whenever the view (method, alpha) or the list of cases changes. */
function watch(what, draw) {
  watchers[what].push(draw);
}

/** Changes the state, and draws the page. */
function change(more, what = "cases") {
  Object.assign(state, more);
  find();
  if (what === "view") for (const draw of watchers.view) draw();
  for (const draw of watchers.cases) draw();
}

/** Shows the cases of a bar, a cell or a group only; a second click shows all again. */
function pick(kind, key, words, test) {
  const picks = new Map(state.picks);
  if (picks.get(kind)?.key === key) picks.delete(kind);
  else picks.set(kind, { key, words, test });
  change({ picks });
}

/** Returns the attributes of a button that filters cases. */
function picks(kind, key, words, test) {
  return {
    type: "button", "data-pick": `${kind} ${key}`, "aria-pressed": String(state.picks.get(kind)?.key === key),
    onclick: () => pick(kind, key, words, test),
  };
}

/** Marks the filters on every chart. */
function markPicks() {
  const picked = new Set([...state.picks].map(([kind, { key }]) => `${kind} ${key}`));
  for (const button of document.querySelectorAll("[data-pick]")) {
    button.setAttribute("aria-pressed", String(picked.has(button.dataset.pick)));
  }
}

/** Returns the key and the test of a group (column, value) or of a stratum. */
function partOf(where, stratum = null) {
  const key = stratum === null ? where.map((pair) => pair.join(":")).join("+") : `s:${stratum}`;
  const test = stratum === null
    ? (i) => where.every(([column, value]) => CASES.groups[column][i] === value)
    : (i) => CASES.stratum[i] === stratum;
  return [key, test];
}

/** Whether annotators disagree on two labels: one names only the first, another only the second. */
function disagree(i, a, b) {
  let one = false;
  let other = false;
  for (const [, blocks] of CASES.answers[i]) {
    const first = blocks[0] || [];
    const hasA = first.includes(a);
    const hasB = first.includes(b);
    one ||= hasA && !hasB;
    other ||= hasB && !hasA;
  }
  return one && other;
}

/** Whether more than one answer names a label in the first place. */
function agrees(i, label) {
  return CASES.answers[i].reduce((sum, [, blocks, weight]) => sum + ((blocks[0] || []).includes(label) ? weight : 0), 0) > 1;
}

const inSet = (i, j) => ((CASES.sets[viewIndex()][i] >>> j) & 1) === 1;

/** Whether a label is an answer to a case, or in its set. */
function has(i, label) {
  const j = CASES.listed[i].indexOf(label);
  return j >= 0 && (CASES.plausibility[i][j] > 0 || inSet(i, j));
}

let folded = null;

/** Returns name and text of each case, in lower case. */
function searched() {
  folded ||= CASES.names.map((name, i) => `${name}\n${CASES.text ? CASES.text[i] : ""}`.toLowerCase());
  return folded;
}

let byName = null;

/** Returns the place of each case among the names in order. */
function placesByName() {
  if (!byName) {
    byName = new Array(CASES.shown);
    CASES.names.map((_, i) => i).sort((i, j) => TIDY.compare(CASES.names[i], CASES.names[j]) || i - j)
      .forEach((i, place) => { byName[i] = place; });
  }
  return byName;
}

const SORTS = {
  missed: ["share left out", () => CASES.missed[viewIndex()].map((value) => -value)],
  risk: ["risk of labels left out", () => CASES.severity_missed[viewIndex()].map((level, i) => -(level * 2000 + CASES.missed[viewIndex()][i]))],
  size: ["set size", () => CASES.size[viewIndex()].map((value) => -value)],
  ambiguity: ["ambiguity", () => CASES.largest],
  name: ["name", placesByName],
};

/** Filters and sorts the cases; the open one stays open while it is among them. */
function find() {
  const query = state.query.trim().toLowerCase();
  const texts = query ? searched() : null;
  const tests = [...state.picks.values()].map(({ test }) => test);
  const found = [];
  for (let i = 0; i < CASES.shown; i += 1) {
    if ((!query || texts[i].includes(query)) && (state.label < 0 || has(i, state.label)) && tests.every((test) => test(i))) found.push(i);
  }
  const by = SORTS[state.sort][1]();
  const then = state.sort === "name" ? by : placesByName();
  found.sort((i, j) => by[i] - by[j] || then[i] - then[j]);
  state.found = found;
  if (!found.includes(state.open)) state.open = found.length ? found[0] : -1;
}

/** Returns the address of one case in this file. */
const addressOf = (i) => `#case=${encodeURIComponent(CASES.names[i])}`;

/** Reads which case the address of the page names; -1 where it names none, null where it is unknown. */
function addressed() {
  if (!location.hash.startsWith("#case=")) return -1;
  try {
    const i = CASES.names.indexOf(decodeURIComponent(location.hash.slice(6)));
    return i < 0 ? null : i;
  } catch {
    return null;
  }
}
