// A page whose title is asked for comes first. Of pages that have the words somewhere, the one on which
// method to use comes first, and the list of all messages, which has most words, last.
var Scorer = {
  score: ([page, , anchor, , score, , kind]) => {
    if (kind === "title") return anchor ? score : score + 30;
    if (kind !== "text") return score;
    return score + ({ choosing: 3, messages: -10 }[page] || 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
