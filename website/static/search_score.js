// How the search of the site counts matches: as Sphinx does, but pages that mention everything stand behind those that explain it.
var Scorer = {
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
  score: ([page, , , , score]) => {
    if (/^(changelog|licences|benchmarks.*|study|constants)$/.test(page)) return score - 30;
    if (page.startsWith("gallery/")) return score - 12;
    if (/^(how|case)-/.test(page)) return score + 8;
    return score;
  },
};
