// Table Top: the five by five layout with what each line makes so far, the card in turn, the crib.

import { draggable } from "./drag.js";
import { cardName, choosable, lying, make, player } from "./elements.js";

const SIZE = 5, CENTRE = 12, CRIB = 25;
const SIDES = ["rows", "columns"];

// No board of pegs: two bars say how far each side has come.
export function board(sight, names, gains) {
  return make("div", { class: "bars" }, SIDES.map((name, side) => {
    const share = Math.min(100, (100 * sight.scores[side]) / sight.target);
    const bar = make("div", { class: `bar-of side${side}` }, make("span"));
    bar.firstChild.style.width = `${share}%`;
    const whose = names.filter((_, seat) => seat % 2 === side).join(" and ");
    return make("div", { class: "side-of" }, player(name, {
      side, score: sight.scores[side], marks: [whose], gain: gains[side],
    }), bar);
  }));
}

export function prompt(sight) {
  const open = sight.legal.some((action) => action !== CRIB);
  if (!open) return "This card must go to the crib";
  return sight.legal.includes(CRIB) ? "Place your card, or send it to the crib" : "Place your card";
}

// What the felt shows when the last card of a round lies, before it is counted.
export function played(sight, frame) {
  const rows = frame.counted.filter((one) => one.name.startsWith("row"));
  const points = (name) => frame.counted.filter((one) => one.name.startsWith(name)).map((one) => one.points);
  return {
    ...sight, mover: null, legal: [], card: null, layout: rows.flatMap((row) => row.cards),
    rows: points("row"), columns: points("column"),
  };
}

const place = (cell) => `row ${Math.floor(cell / SIZE) + 1}, column ${(cell % SIZE) + 1}`;

function cell(table, sight, at) {
  const card = sight.layout[at];
  if (card !== null) {
    const more = at === sight.last ? "latest" : at === CENTRE ? "starter" : "";
    return lying(card, { class: more, alt: `${cardName(card)}, ${place(at)}` });
  }
  const open = table.to_choose > 0 && sight.legal.includes(at);
  return make("button", {
    type: "button", class: `cell${open ? " open" : ""}${table.advised.includes(at) ? " advised" : ""}`,
    disabled: !open, "aria-label": `${place(at)}${open ? "" : ", closed"}`,
    data: open ? { drop: at, key: `cell-${at}`, cell: at } : {}, on: { click: () => table.act([at]) },
  });
}

export function draw(table, sight) {
  const mine = sight.seat % 2;
  const head = (value, side, i) => make("th", {
    scope: side ? "col" : "row", class: side === mine ? "mine" : "",
    "aria-label": `${SIDES[side].slice(0, -1)} ${i + 1}: ${value}`,
  }, String(value));
  const rows = Array.from({ length: SIZE }, (_, row) => make("tr", {},
    Array.from({ length: SIZE }, (_, column) => make("td", {}, cell(table, sight, SIZE * row + column))),
    head(sight.rows[row], 0, row)));
  const layout = make("table", { class: "layout", "aria-label": "The layout: rows and columns with what each makes" },
    make("tbody", {}, rows, make("tr", {}, sight.columns.map((value, i) => head(value, 1, i)), make("td"))));

  const open = table.to_choose > 0 && sight.legal.includes(CRIB);
  const to_crib = open ? make("button", {
    type: "button", data: { key: "crib", drop: CRIB }, on: { click: () => table.act([CRIB]) },
  }, "To the crib") : null;
  let card = null;
  if (sight.card !== null) {
    const yours = sight.mover === sight.seat;
    card = lying(sight.card, { tag: "div", alt: `${yours ? "your card" : "your partner's card"}: ${cardName(sight.card)}` });
    if (yours && table.to_choose) draggable(card, (where) => {
      if (sight.legal.includes(Number(where))) table.act([Number(where)]);
    });
  }
  const players = table.names.map((name, seat) => player(name, {
    side: seat % 2, turn: sight.mover === seat, marks: [
      ...(table.names.length > 2 ? [] : [SIDES[seat % 2]]), ...(seat === sight.dealer ? ["dealer"] : []),
      ...(sight.owed[seat] ? [`owes the crib ${sight.owed[seat]}`] : []),
    ],
  }));
  const known = sight.crib.map((one) => lying(one.card));
  const advised = table.advised.includes(CRIB) ? " advised" : "";
  return make("div", { class: "top" }, layout,
    make("div", { class: "side" },
      make("div", { class: "turncard" }, card ?? make("div", { class: "slot" })),
      make("div", { class: `crib${open ? " open" : ""}${advised}`, data: open ? { drop: CRIB } : {} },
        make("span", {}, `Crib of the ${SIDES[sight.dealer % 2]}`),
        make("div", { class: "cards" }, known), to_crib),
      make("div", { class: "players" }, players)));
}

// Keys: arrows go from one open cell to the next in that direction, k lays in the crib.
export function key(pressed, felt) {
  if (pressed === "k") {
    felt.querySelector('[data-key="crib"]')?.click();
    return true;
  }
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[pressed];
  if (!step) return false;
  const open = [...felt.querySelectorAll("[data-cell]")];
  const now = Number(felt.querySelector("[data-cell]:focus")?.dataset.cell ?? CENTRE);
  const away = (one) => {
    const cell = Number(one.dataset.cell);
    const [dr, dc] = [Math.floor(cell / SIZE) - Math.floor(now / SIZE), (cell % SIZE) - (now % SIZE)];
    const ahead = dr * step[0] + dc * step[1], aside = Math.abs(dr * step[1]) + Math.abs(dc * step[0]);
    return ahead > 0 ? ahead + 2 * aside : Infinity;
  };
  const nearest = open.filter((one) => away(one) < Infinity).sort((a, b) => away(a) - away(b))[0];
  nearest?.focus();
  return true;
}
