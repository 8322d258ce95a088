// 6: the cases: filters, the list, and moving through it.

const PER_PAGE = 8;
const CASE = byId("case"); // on narrow pages it stands in the list
const NARROW = matchMedia("(max-width: 62rem)");

const page = () => Math.max(0, Math.floor(state.found.indexOf(state.open) / PER_PAGE));

const FIRST = {
  risk: "whose sets leave out the answers of the highest risk",
  size: "with the largest sets",
  ambiguity: `on which ${WORDS.annotators} disagree most`,
};

function option(value, text, chosen) {
  return make("option", { value, selected: value === chosen, dir: "auto" }, text);
}

/** Fills the lists of labels, groups and orders, once. */
function startTools() {
  const sorts = Object.keys(SORTS).filter((key) => key !== "risk" || LABELS.some((label) => label.severity >= 0));
  fill(byId("label"), option("-1", "any label"), LABELS.map((label, code) => option(String(code), label.name)));
  fill(byId("group"), option("", "all"),
    DATA.groups.map((column, c) => make("optgroup", { label: column.name }, column.values.map((value, v) => option(`${c}:${v}`, `${column.name} ${value}`)))),
    make("optgroup", { label: KINDS.ambiguity }, DATA.strata.map((stratum, s) => option(`s:${s}`, stratum))));
  fill(byId("sort"), sorts.map((key) => option(key, SORTS[key][0], state.sort)));
  byId("search").addEventListener("input", paused(() => change({ query: byId("search").value })));
  byId("label").addEventListener("change", () => change({ label: Number(byId("label").value), open: -1 }));
  byId("sort").addEventListener("change", () => change({ sort: byId("sort").value, open: -1 }));
  byId("group").addEventListener("change", chooseGroup);
  byId("clear").addEventListener("click", clearAll);
  byId("list").addEventListener("keydown", moveByKey);
  NARROW.addEventListener("change", drawCases);
}

function chooseGroup() {
  const value = byId("group").value;
  const picked = new Map(state.picks);
  picked.delete("part");
  if (value) {
    const [column, place] = value.split(":");
    const [key, test] = column === "s" ? partOf([], Number(place)) : partOf([[Number(column), Number(place)]]);
    const words = column === "s" ? `most frequent answer ${DATA.strata[place]}` : `${DATA.groups[column].name} ${DATA.groups[column].values[place]}`;
    picked.set("part", { key, words, test });
  }
  change({ picks: picked, open: -1 });
}

function clearAll() {
  showAll(-1);
  byId("search").focus();
}

/** Shows the filters in the tools. */
function showFilters() {
  byId("label").value = String(state.label);
  const key = state.picks.get("part")?.key ?? "";
  byId("group").value = [...byId("group").options].some((one) => one.value === key) ? key : "";
  const chips = [...state.picks].map(([kind, { key: picked, words, test }]) => make("button.button", {
    type: "button", "aria-label": `Remove the filter: ${words}`, onclick: () => { pick(kind, picked, words, test); byId("search").focus(); },
  }, named(words), " ✕"));
  fill(byId("chips"), chips);
  byId("clear").disabled = !(state.query || state.label >= 0 || state.picks.size);
}

function item(i) {
  const out = CASES.missed[viewIndex()][i];
  return make("li", { "data-case": i },
    make("button.item", { type: "button", "aria-current": i === state.open ? "true" : null, onclick: () => open(i) },
      make("span.id.clip", {}, named(CASES.names[i])),
      make("span.inside", { "aria-hidden": "true" }, make("i.said", { style: { width: width(1 - out / 1000) } }), make("i.missed", { style: { width: width(out / 1000) } })),
      make("span.number", {}, make("span.unseen", {}, "left out: "), share(out / 1000, 2)),
      make("span.set.clip", {}, setNames(i))));
}

/** Opens a case, which has an address. */
function open(i, focus = true) {
  state.open = i;
  drawCases();
  try {
    history.replaceState(null, "", addressOf(i));
  } catch {
    // a page inside another one may have no address of its own
  }
  if (focus) byId("list").querySelector("[aria-current]")?.focus();
}

function moveByKey(event) {
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: PER_PAGE, PageUp: -PER_PAGE, Home: -Infinity, End: Infinity };
  if (!(event.key in steps) || !event.target.closest(".item")) return;
  event.preventDefault();
  const place = state.found.indexOf(state.open) + steps[event.key];
  open(state.found[Math.min(state.found.length - 1, Math.max(0, place))]);
}

function turn(step) {
  open(state.found[(page() + step) * PER_PAGE], false);
  byId("list").querySelector(".item")?.focus();
}

function drawCases() {
  const { found } = state;
  const first = page() * PER_PAGE;
  const shown = found.slice(first, first + PER_PAGE);
  byId("cases-sentence").textContent = firstWords();
  showFilters();
  markPicks();
  fill(byId("list"), shown.map(item));
  const words = found.length === CASES.shown ? examples(found.length) : `${count(found.length)} of ${examples(CASES.shown)}`;
  byId("count").textContent = found.length ? words : `No ${WORDS.example} matches.`;
  byId("where").textContent = found.length ? `${count(first + 1)} to ${count(first + shown.length)} of ${count(found.length)}` : "";
  byId("previous").disabled = first === 0;
  byId("next").disabled = first + PER_PAGE >= found.length;
  drawCase();
}

/** Returns the sentence on which cases come first. */
function firstWords() {
  if (state.sort === "missed") return CASES.sentence;
  const many = WORDS.examples[0].toUpperCase() + WORDS.examples.slice(1);
  return state.sort === "name" ? `${many} are sorted by name.` : `${many} ${FIRST[state.sort]} come first.`;
}

/** Shows the names of the cases whose sets leave out most. */
function drawSurprising() {
  const { sentence, cases } = view().surprising;
  fill(byId("surprising"), sentence, " ", cases.map((i) => make("button.button.slight", {
    type: "button", onclick: () => { showAll(i); open(i); },
  }, make("span.clip", {}, named(CASES.names[i])))));
}

/** Removes all filters, and opens one case. */
function showAll(i) {
  byId("search").value = "";
  change({ query: "", label: -1, picks: new Map(), open: i });
}

/** Draws the open case beside the list, or below its row where there is no room beside. */
function drawCase() {
  const place = CASE;
  const row = byId("list").querySelector(`[data-case="${state.open}"]`);
  if (NARROW.matches && row) row.append(place);
  else byId("browser").append(place);
  place.hidden = state.open < 0;
  if (state.open >= 0) fill(place, caseOf(state.open));
}

function startCases() {
  startTools();
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  addEventListener("hashchange", showAddressed);
}

/** Opens the case that the address names. */
function showAddressed() {
  const i = addressed();
  if (i === null) announce(`This report shows no ${WORDS.example} of that name.`);
  if (i === null || i < 0) return;
  setFolded(byId("cases"), false);
  showAll(i);
  byId("cases").scrollIntoView({ block: "start" });
}
