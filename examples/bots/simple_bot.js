// A cribbage bot in JavaScript for Node, without packages: six-card cribbage by simple rules.
//
//     crib evaluate "command:node examples/bots/simple_bot.js" rule_based
//
// It keeps the four cards with the most points and plays the card that pegs the most.

"use strict";
const readline = require("readline");

const RANKS = "A23456789TJQK";
const rank = (card) => RANKS.indexOf(card[0]) + 1;
const pip = (card) => Math.min(rank(card), 10);
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

// Every combination of `size` cards.
function combinations(cards, size) {
  if (size === 0) return [[]];
  return cards.flatMap((card, i) =>
    combinations(cards.slice(i + 1), size - 1).map((rest) => [card, ...rest]));
}

// Whether the ranks follow each other.
function isRun(cards) {
  const ranks = cards.map(rank).sort((a, b) => a - b);
  return ranks.every((r, i) => i === 0 || r === ranks[i - 1] + 1);
}

// The fifteens, pairs and runs of a hand.
function points(cards) {
  let total = 0;
  for (let size = 2; size <= cards.length; size++) {
    for (const some of combinations(cards, size)) {
      if (sum(some.map(pip)) === 15) total += 2;
      if (size === 2 && rank(some[0]) === rank(some[1])) total += 2;
    }
  }
  for (let size = cards.length; size > 2; size--) {
    const runs = combinations(cards, size).filter(isRun);
    if (runs.length) return total + size * runs.length;
  }
  return total;
}

// The points of a card played on the pile of this count.
function pegged(pile, before, card) {
  const made = [...pile, card];
  const count = before + pip(card);
  let total = (count === 15 ? 2 : 0) + (count === 31 ? 2 : 0);
  let alike = 1;
  while (alike < made.length && rank(made[made.length - 1 - alike]) === rank(card)) alike++;
  total += alike * (alike - 1);
  for (let n = made.length; n > 2; n--) {
    if (isRun(made.slice(-n))) return total + n;
  }
  return total;
}

// The two cards to discard: the others score the most.
function discard({ hand, discarded }) {
  const dealt = [...hand, ...discarded];
  let best = null;
  for (const away of combinations(dealt, 2)) {
    if (!discarded.every((card) => away.includes(card))) continue;
    const value = points(dealt.filter((card) => !away.includes(card)));
    if (best === null || value > best.value) best = { away, value };
  }
  return best.away.filter((card) => !discarded.includes(card));
}

// The card that pegs the most, the highest among equals.
function play({ legal, pile, count }) {
  const value = (card) => 100 * pegged(pile, count, card) + pip(card);
  return legal.reduce((best, card) => (value(card) > value(best) ? card : best));
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  let answer = null;
  if (message.type === "hello") {
    answer = { name: "simple-js", author: "crib-env", plays: ["six_card"], games: 1000 };
  } else if (message.type === "decision") {
    answer = { action: message.phase === "discard" ? discard(message) : play(message) };
  } else if (message.type === "quit") {
    process.exit(0);
  }
  if (answer !== null) process.stdout.write(JSON.stringify(answer) + "\n");
});
