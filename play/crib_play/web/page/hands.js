// Six and five cards: two hands, the pile between them, the count, the starter and the crib.

import { drawBoard } from "./board.js";
import { draggable } from "./drag.js";
import { cardName, choosable, lying, make, player } from "./elements.js";

export const board = (sight, names) => drawBoard(sight, names);

export function prompt(sight, names) {
  if (sight.phase !== "discard") return "Your turn: play a card";
  const whose = sight.dealer === sight.seat ? "your crib" : `the crib of ${names[sight.dealer]}`;
  return `Discard two cards to ${whose}`;
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
  const marks = who === sight.dealer ? ["dealer"] : [];
  if (sight.match_score) marks.push(`${sight.match_score[who]} of ${sight.match_target} game points`);
  return player(table.names[who], {
    side: who, score: sight.scores[who], turn: sight.mover === who, marks, gain: table.gains[who],
  });
}

function pile(table, sight) {
  const start = sight.pile.findIndex((one) => !one.out);
  return make("ol", { class: "pile", "aria-label": "Cards played", data: { drop: "pile" } },
    sight.pile.map((one, i) => lying(one.card, {
      tag: "li", class: `${one.seat === sight.seat ? "mine" : ""} ${one.out ? "out" : ""} ${i === start && i ? "fresh" : ""}`,
      alt: `${cardName(one.card)}, ${table.names[one.seat]}${one.out ? ", out of play" : ""}`,
    })));
}

export function draw(table, sight) {
  const me = sight.seat, other = 1 - me;
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
    laying && !sight.discarded.length ? make("div", { class: "slot" }) : lying(null, { alt: "the crib, face down" }),
    make("span", {}, sight.dealer === me ? "your crib" : "their crib"));
  const starter = make("div", { class: "stack" },
    lying(sight.starter, { alt: sight.starter === null ? "the pack" : cardName(sight.starter) }),
    make("span", {}, "starter"));

  return make("div", { class: "hands" },
    make("div", { class: "row player-row" }, seat(table, sight, other),
      make("div", { class: "cards backs", role: "img", "aria-label": `${table.names[other]} holds ${sight.held[other]}` },
        Array.from({ length: sight.held[other] }, () => lying(null, { alt: "" })))),
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
