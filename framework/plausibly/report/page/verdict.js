// 1: what can be relied on, first where it cannot.

const SIGNS = {
  broken: ["bad", "✕", "broken"],
  vacuous: ["odd", "◆", "says nothing"],
  weak: ["bad", "▲", "weak"],
  kept: ["good", "●", "kept"],
  held: ["good", "●", "held"],
  "cannot be checked": ["odd", "○", "cannot be checked"],
};

/** Returns the sign of a state: a shape, a colour and a word. */
function sign(kind, word) {
  const [style, shape, said] = SIGNS[kind];
  return make(`span.sign.${style}`, {}, make("b", { "aria-hidden": "true" }, shape), word || said);
}

/** Returns rows of a title and a text. */
const facts = (rows) => make("dl.facts", {}, rows.map(([title, text]) => [make("dt", {}, title), make("dd", {}, text)]));

function findingLine(finding) {
  const [style, shape, said] = SIGNS[finding.severity];
  const part = finding.part === null ? null : view().weak.parts[finding.part];
  return make("li", { "data-finding": finding.severity },
    make(`b.${style}`, { "aria-hidden": "true" }, shape),
    make("span", {}, make("span.unseen", {}, `${said}: `), finding.sentence, " ",
      part && partButton(part, `Show ${WORDS.examples}`)));
}

function partButton(part, words) {
  const [key, test] = partOf(part.where, part.stratum);
  return make("button.button.slight", {
    type: "button",
    onclick: () => {
      if (state.picks.get("part")?.key !== key) pick("part", key, part.title, test);
      goTo("cases");
    },
  }, words);
}

function goTo(id) {
  const heading = byId(id).querySelector("h2");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  byId(id).scrollIntoView({ block: "start" });
}

function drawVerdict() {
  const { verdict } = view();
  const worst = verdict.findings.length ? verdict.findings[0].severity : verdict.guarantee.level === null ? "nothing" : "kept";
  const counts = Object.keys(SIGNS)
    .map((kind) => [kind, verdict.findings.filter((finding) => finding.severity === kind).length])
    .filter(([, n]) => n);
  byId("verdict").dataset.state = worst;
  const button = make("button.button", { type: "button", onclick: () => copy(spoken(verdict), button) }, "Copy verdict");
  const wasOpen = byId("verdict").querySelector("details")?.open;
  fill(byId("verdict-body"),
    make("div.signs", {},
      counts.map(([kind, n]) => sign(kind, kind === "weak" ? counted(n, "weak group") : n > 1 ? `${n} ${SIGNS[kind][2]}` : "")),
      button),
    make(verdict.sentence.length > 150 ? "p.sentence.long" : "p.sentence", {}, verdict.sentence),
    make("p.about", {}, verdict.limits),
    make("ul.findings", {}, verdict.findings.filter(({ severity, sentence }) => severity !== "kept" || !verdict.sentence.includes(sentence)).map(findingLine)),
    make("details", { open: wasOpen },
      make("summary", {}, make("span", {}, "What exactly is guaranteed: ", make("code", {}, verdict.guarantee.statement))),
      facts(verdict.guarantee.rows)));
}

/** Returns the verdict as plain text. */
function spoken({ sentence, limits, findings, guarantee }) {
  return [
    sentence, limits, ...findings.map((finding) => `${SIGNS[finding.severity][2]}: ${finding.sentence}`), "",
    guarantee.statement, ...guarantee.rows.map(([title, text]) => `  ${title}: ${text}`),
  ].join("\n");
}
