// A page whose title is asked for comes before pages that have the words somewhere.
var Scorer = {
  score: ([, , anchor, , score, , kind]) => score + (kind === "title" && !anchor ? 30 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
