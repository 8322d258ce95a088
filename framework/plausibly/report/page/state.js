// What is chosen: method, alpha, what is searched, filtered and sorted, and the case that is open.

const DATA = JSON.parse(byId("data").textContent);
const { words: WORDS, cases: CASES, labels: LABELS } = DATA;
const TIDY = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

const state = {
  method: 0,
  alpha: 0,
  ties: "first",
  query: "",
  label: -1,
  picks: new Map(), // by kind: which cases a click on a chart asks for
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

/** Calls a function whenever what it shows has changed: the view (method, alpha), or the cases. */
function watch(what, draw) {
  watchers[what].push(draw);
}

/** Changes what is chosen, and shows it. */
function change(more, what = "cases") {
  Object.assign(state, more);
  find();
  if (what === "view") for (const draw of watchers.view) draw();
  for (const draw of watchers.cases) draw();
}

/** Asks for the cases of a bar, a cell or a group; asking again takes it back. */
function pick(kind, key, words, test) {
  const picks = new Map(state.picks);
  if (picks.get(kind)?.key === key) picks.delete(kind);
  else picks.set(kind, { key, words, test });
  change({ picks });
}

/** Returns what a button needs to ask for cases. */
function picks(kind, key, words, test) {
  return {
    type: "button", "data-pick": `${kind} ${key}`, "aria-pressed": String(state.picks.get(kind)?.key === key),
    onclick: () => pick(kind, key, words, test),
  };
}

/** Shows on every chart what is picked there. */
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

/** Whether experts part over two labels: one names the first and not the second, another the reverse. */
function parts(i, a, b) {
  let one = false;
  let other = false;
  for (const [, blocks] of CASES.said[i]) {
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
  return CASES.said[i].reduce((sum, [, blocks, weight]) => sum + ((blocks[0] || []).includes(label) ? weight : 0), 0) > 1;
}

const inSet = (i, j) => ((CASES.sets[viewIndex()][i] >>> j) & 1) === 1;

/** Whether a label is said of a case, or is in its set. */
function has(i, label) {
  const j = CASES.listed[i].indexOf(label);
  return j >= 0 && (CASES.plausibility[i][j] > 0 || inSet(i, j));
}

let folded = null;

/** Returns what is searched: name and text of each case, in lower case. */
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
  missed: ["most left out", () => CASES.missed[viewIndex()].map((value) => -value)],
  risk: ["most dangerous left out", () => CASES.severity_missed[viewIndex()].map((level, i) => -(level * 2000 + CASES.missed[viewIndex()][i]))],
  size: ["largest set", () => CASES.size[viewIndex()].map((value) => -value)],
  ambiguity: ["most ambiguous", () => CASES.largest],
  name: ["name", placesByName],
};

/** Finds and sorts the cases that are asked for; the open one stays open while it is among them. */
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
