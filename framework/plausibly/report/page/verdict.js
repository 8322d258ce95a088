// 1: the verdict; what is broken, vacuous or weak comes first.

const SIGNS = {
  broken: ["bad", "✕", "broken"],
  vacuous: ["odd", "◆", "vacuous"],
  weak: ["bad", "▲", "weak"],
  kept: ["good", "●", "kept"],
  held: ["good", "●", "held"],
  "cannot be checked": ["odd", "○", "cannot be checked"],
};

/** Returns rows of a title and a text. */
const facts = (rows) => make("dl.facts", {}, rows.map(([title, text]) => [make("dt", {}, title), make("dd", {}, text)]));

function findingLine(finding) {
  const [style, shape, title] = SIGNS[finding.severity];
  const part = finding.part === null ? null : view().weak.parts[finding.part];
  return make("li", { "data-finding": finding.severity },
    make(`b.${style}`, { "aria-hidden": "true" }, shape),
    make("span", {}, make("span.unseen", {}, `${title}: `), finding.sentence, " ",
      finding.action && make("em", {}, finding.action), " ", part && partButton(part, `Show ${WORDS.examples}`)));
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
  setFolded(byId(id), false);
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  byId(id).scrollIntoView({ block: "start" });
}

function drawVerdict() {
  const { verdict } = view();
  const worst = verdict.findings.length ? verdict.findings[0].severity : verdict.guarantee.level === null ? "nothing" : "kept";
  byId("verdict").dataset.state = worst;
  const button = make("button.button.slight", { type: "button", onclick: () => copy(plainText(verdict), button) }, "Copy verdict");
  const wasOpen = byId("verdict").querySelector("details")?.open;
  fill(byId("verdict-body"),
    make(verdict.sentence.length > 150 ? "p.sentence.long" : "p.sentence", {}, verdict.sentence),
    make("p.measured", {}, verdict.about),
    make("ul.findings", {}, verdict.findings.filter(({ sentence }) => !verdict.sentence.includes(sentence)).map(findingLine)),
    make("p.about", {}, verdict.limits, " ", button),
    make("details", { open: wasOpen },
      make("summary", {}, make("span", {}, "Full guarantee: ", make("code", {}, verdict.guarantee.statement))),
      facts(verdict.guarantee.rows)));
}

/** Returns the verdict as plain text. */
function plainText({ sentence, about, limits, findings, guarantee }) {
  return [
    sentence, about, ...findings.map((finding) => `${SIGNS[finding.severity][2]}: ${finding.sentence} ${finding.action}`.trim()), limits, "",
    guarantee.statement, ...guarantee.rows.map(([title, text]) => `  ${title}: ${text}`),
  ].join("\n");
}
