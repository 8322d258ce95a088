// Starts the page.

function startSwitches() {
  fill(byId("alpha"), DATA.alphas.map((alpha, i) => option(String(i), alpha, String(state.alpha))));
  fill(byId("method"), DATA.methods.map((method, i) => option(String(i), method.reference ? `${method.name} (to compare)` : method.name, String(state.method))));
  byId("alpha").addEventListener("change", () => change({ alpha: Number(byId("alpha").value) }, "view"));
  byId("method").addEventListener("change", () => change({ method: Number(byId("method").value) }, "view"));
}

function start() {
  startTheme();
  startPrinting();
  startSwitches();
  startCases();
  startFolds();
  drawDisagreement();
  drawMade();
  for (const draw of [drawVerdict, drawVote, drawSizes, drawWeak, drawSurprising, drawAssumptions]) watch("view", draw);
  watch("view", placeRealised);
  watch("cases", drawCases);
  change({ open: Math.max(-1, addressed() ?? -1) }, "view");
  if (addressed() !== -1) showAddressed();
}

start();
