// What a search ranks first: pages with the word in their title, then names of the library. The
// theme's own numbers put every attribute named `epsilon` before the page on choosing it.
window.Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 0, 1: 0, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
