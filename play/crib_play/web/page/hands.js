// Games with hands: the others' across and at the sides, the pile between, the count, the starter, the crib.

import { drawBoard } from "./board.js";
import { draggable } from "./drag.js";
import { cardName, choosable, lying, make, player } from "./elements.js";

// Where the others sit, to the left of whoever looks, by how many play.
const PLACES = { 2: ["across"], 3: ["left", "right"], 4: ["left", "across", "right"] };
const CRIBS = { left: "crib on the left", across: "crib across", right: "crib on the right", partner: "partner's crib" };

// The board; under it the scores of partners, who have one together.
export function board(sight, names, gains, sides) {
  const drawn = drawBoard(sight, sides);
  if (sides.length === names.length) return drawn;
  return make("div", {}, drawn, make("div", { class: "together" }, sides.map((name, side) =>
    player(name.replaceAll(/ \([^)]*\)/g, ""), { side, score: sight.scores[side], gain: gains[side], marks: games(sight, side) }))));
}

const games = (sight, side) =>
  sight.match_score ? [`${sight.match_score[side]} of ${sight.match_target} game points`] : [];

function cribOf(sight, names) {
  if (sight.dealer === sight.seat) return "your crib";
  return CRIBS[names[sight.dealer].split(" (")[0]] ?? "their crib"; // "left (greedy)" sits on the left
}

export function prompt(sight, names, wanted) {
  if (sight.phase !== "discard") return "Your turn: play a card";
  const whose = sight.dealer === sight.seat ? "your crib" :
    names.length === 2 ? `the crib of ${names[sight.dealer]}` : `the ${cribOf(sight, names)}`;
  return `Discard ${wanted === 1 ? "a card" : "two cards"} to ${whose}`;
}

// What the felt shows when the last card of a deal has been played, before the next is dealt.
export function played(sight, frame) {
  const [card] = frame.calls.flatMap((call) => call.cards);
  if (card === undefined || sight.phase !== "pegging") return sight;
  return {
    ...sight, mover: null, hand: sight.hand.filter((held) => held.card !== card),
    held: sight.held.map((n, seat) => (seat === frame.seat ? n - 1 : n)),
    pile: [...sight.pile, { card, seat: frame.seat, out: false }],
  };
}

function seat(table, sight, who) {
  const side = sight.side_of[who], alone = sight.scores.length === table.names.length;
  const marks = who === sight.dealer ? ["dealer"] : [];
  if (sight.passed.includes(who)) marks.push("go");
  const [place, agent] = table.names[who].split(/ (?=\()/); // "left (greedy)"
  return player([place, agent ? make("span", { class: "agent" }, ` ${agent}`) : null], {
    side, turn: sight.mover === who, marks: alone ? [...marks, ...games(sight, side)] : marks,
    score: alone ? sight.scores[side] : undefined, gain: alone ? table.gains[side] : undefined,
  });
}

function other(table, sight, who, place) {
  return make("div", { class: `row player-row at-${place}` }, seat(table, sight, who),
    make("div", { class: "cards backs", role: "img", "aria-label": `${table.names[who]} holds ${sight.held[who]}` },
      Array.from({ length: sight.held[who] }, () => lying(null, { alt: "" }))));
}

// Cards in the order played; each lies the lower, the later its seat comes to the left of mine.
function pile(table, sight) {
  const start = sight.pile.findIndex((one) => !one.out), players = table.names.length;
  return make("ol", { class: "pile", "aria-label": "Cards played", data: { drop: "pile" } },
    sight.pile.map((one, i) => {
      const card = lying(one.card, {
        tag: "li", class: `side${sight.side_of[one.seat]} ${one.out ? "out" : ""} ${i === start && i ? "fresh" : ""}`,
        alt: `${cardName(one.card)}, ${table.names[one.seat]}${one.out ? ", out of play" : ""}`,
      });
      card.style.setProperty("--down", ((one.seat - sight.seat - 1 + players) % players) / (players - 1));
      return card;
    }));
}

export function draw(table, sight) {
  const me = sight.seat, players = table.names.length;
  const laying = sight.phase === "discard";
  const open = table.to_choose > 0;
  const chosen = table.chosen;
  const hand = [...sight.hand].sort((a, b) => a.card - b.card);

  function choose(card) {
    if (!laying) return table.act([card]);
    const at = chosen.indexOf(card);
    if (at >= 0) chosen.splice(at, 1);
    else chosen.push(card);
    if (chosen.length > table.to_choose) chosen.shift();
    table.redraw();
  }

  function drop(card, where) {
    if (laying && where === "crib") {
      if (!chosen.includes(card)) chosen.push(card);
      if (chosen.length === table.to_choose) table.act([...chosen]);
      else table.redraw();
    } else if (!laying && where === "pile") table.act([card]);
  }

  const cards = hand.map(({ card, legal }) => {
    if (!open) return lying(card, { class: sight.mover === me && !legal ? "closed" : "" });
    const one = choosable(card, {
      closed: !legal, pressed: laying ? chosen.includes(card) : undefined,
      advised: table.advised.includes(card), on: { click: () => choose(card) }, key: `card-${card}`,
      label: legal ? undefined : `${cardName(card)}, past 31`,
    });
    draggable(one, (where) => drop(card, where));
    return one;
  });
  const crib = make("div", { class: "stack", data: { drop: "crib" } },
    sight.crib === 0 ? make("div", { class: "slot" }) : lying(null, { alt: "the crib, face down" }),
    make("span", {}, cribOf(sight, table.names)));
  const starter = make("div", { class: "stack" },
    lying(sight.starter, { alt: sight.starter === null ? "the pack" : cardName(sight.starter) }),
    make("span", {}, "starter"));

  return make("div", { class: `hands${players > 2 ? " many" : ""}` },
    ...PLACES[players].map((place, i) => other(table, sight, (me + 1 + i) % players, place)),
    make("div", { class: "middle" }, starter,
      laying ? make("span") : pile(table, sight),
      laying ? make("span") : make("p", { class: "count" },
        make("b", { data: { count: "" } }, String(sight.count)), make("span", {}, "count")),
      crib),
    make("div", { class: `cards hand${hand.length > 4 ? " six" : ""}`, role: "group", "aria-label": "Your cards" }, cards),
    make("div", { class: "row player-row" }, seat(table, sight, me),
      open && laying ? make("button", {
        type: "button", class: "main", disabled: chosen.length !== table.to_choose, data: { key: "discard" },
        on: { click: () => table.act([...chosen]) },
      }, "Discard") : null));
}

// Keys: 1 to 6 for a card in hand, from the left.
export function key(pressed, felt) {
  if (!/^[1-6]$/.test(pressed)) return false;
  felt.querySelectorAll(".hand button.card")[Number(pressed) - 1]?.click();
  return true;
}
