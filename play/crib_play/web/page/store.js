// Data that this browser stores: choices, the games joined, and the reviews of finished ones.

function read(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}
const write = (key, value) => localStorage.setItem(key, JSON.stringify(value));

export const choices = () => read("crib-offer", {});
export const keep = (more) => write("crib-offer", { ...choices(), ...more });

const MOST = 40;
export const games = () => read("crib-games", []);
export function note(found) {
  const others = games().filter((one) => one.table !== found.table);
  const against = found.names.filter((_, seat) => seat !== found.sight.seat).join(", ");
  const one = { table: found.table, title: found.game.title, against, scores: found.sight.scores, over: found.sight.over, muggins: found.muggins };
  write("crib-games", [one, ...others].slice(0, MOST));
}
export const muggins = (table) => games().find((one) => one.table === table)?.muggins ?? { counts: 0, right: 0, claimed: 0 };
export const forget = (table) => write("crib-games", games().filter((one) => one.table !== table));

export const results = () => read("crib-results", {});
export const record = (table, review) => write("crib-results", { ...results(), [table]: {
  won: review.won, deals: review.deals, points: review.points, phases: review.phases, luck: review.luck } });

// Averages over the finished games.
export function statistics() {
  const all = Object.values(results());
  if (!all.length) return null;
  const sum = (of) => all.reduce((total, one) => total + of(one), 0);
  const deals = sum((one) => one.deals);
  const rows = ["pegging", "hand", "crib"].map((phase) =>
    [phase, ...[0, 1].map((side) => sum((one) => one.points[phase][side]) / deals)]);
  const phases = {};
  for (const one of all.flatMap((game) => game.phases)) {
    const known = phases[one.phase] ??= { n: 0, loss: 0 };
    known.n += one.decisions;
    known.loss += one.decisions * one.loss;
  }
  const judged = all.map((one) => one.luck).filter(Number.isFinite);
  const luck = judged.length ? judged.reduce((total, one) => total + one, 0) / judged.length : null;
  return { luck, games: all.length, won: sum((one) => Number(one.won)), rows, phases };
}
