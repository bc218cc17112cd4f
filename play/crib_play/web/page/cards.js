// Cards, players and the board of pegs.

import { html } from "./vendor/preact-htm.js";
import { draggable } from "./drag.js";

const RANKS = ["ace", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king"];
const SUITS = ["clubs", "diamonds", "hearts", "spades"];
const SUIT_MARKS = "♣♦♥♠";

export const cardName = (card) => `${RANKS[card >> 2]} of ${SUITS[card & 3]}`;
export const cardText = (card) => "A23456789TJQK"[card >> 2] + SUIT_MARKS[card & 3];
const source = (card) => `/cards/${card === null ? "back" : "A23456789TJQK"[card >> 2] + "CDHS"[card & 3]}.svg`;
const classes = (...names) => names.filter(Boolean).join(" ");

// A card on the table; null is one face down. `from` names the place that it comes from.
export function Lying({ card, tag = "div", kind = "", alt, from, style, drop }) {
  const said = alt ?? (card === null ? "a card face down" : cardName(card));
  const drag = drop ? (element) => draggable(element, drop) : undefined;
  return html`<${tag} class=${`card ${kind}`} data-card=${card ?? undefined} data-from=${from} style=${style} ref=${drag}>
    <img src=${source(card)} alt=${said} draggable=${false} /></${tag}>`;
}

// A card that may be chosen.
export function Choosable({ card, closed, pressed, advised, label, onClick, drop, from }) {
  return html`<button type="button" class=${classes("card", closed && "closed", advised && "advised")} disabled=${closed}
    aria-label=${label ?? cardName(card)} aria-pressed=${pressed === undefined ? undefined : String(pressed)}
    onClick=${onClick} ref=${(element) => draggable(element, drop)} data-card=${card} data-key=${`card-${card}`} data-from=${from}>
    <img src=${source(card)} alt="" draggable=${false} /></button>`;
}

// A player's name, part and score; `gain` is what was just pegged.
export function Player({ name, side, score, turn, marks = [], gain }) {
  return html`<div class=${classes("player", `side${side}`, turn && "turn")}>
    <span class="name">${name}</span>
    ${marks.map((mark) => html`<span class="mark">${mark}</span>`)}
    ${score === undefined ? null : html`<span class="score" data-score=${side}>${score}</span>`}
    <span class="gain">${gain ? `+${gain}` : ""}</span></div>`;
}

// --- the board: a track a side, two pegs that leap-frog (H12); on a phone in rows of thirty ----------

const STEP = 12, FIVE = 5, LEFT = 34, TOP = 13, BETWEEN = 6;
const TRACKS = { 2: 15, 3: 13, 4: 12 }; // between the tracks of two sides, by number of sides
export const narrow = window.matchMedia("(max-width: 52rem)");

// Where a hole lies: rows run to and fro, each side's below the other's.
function place(hole, side, row, sides, rear) {
  const track = TRACKS[sides];
  if (hole === 0) return [rear ? 10 : 22, TOP + side * track];
  const n = hole - 1, line = Math.floor(n / row), at = n % row;
  const along = line % 2 ? row - 1 - at : at;
  return [LEFT + along * STEP + Math.floor(along / 5) * FIVE, TOP + side * track + line * (sides * track + BETWEEN)];
}

// The board; `names` are those of the sides.
export function Board({ sight, names }) {
  const row = narrow.matches ? (sight.scores.length > 2 ? 60 : 30) : 60;
  const { scores, rear, target } = sight;
  const lines = Math.ceil((target - 1) / row), sides = scores.length;
  const width = LEFT + row * STEP + (row / 5) * FIVE + 14;
  const height = lines * (sides * TRACKS[sides] + BETWEEN) + TOP - 3;
  const said = names.map((name, side) => `${name} ${scores[side]}, rear peg ${rear[side]}`).join("; ");
  const end = (side) => {
    const [x, y] = place(target - 1, side, row, sides);
    return [x + (Math.floor((target - 2) / row) % 2 ? -STEP - 3 : STEP + 3), y];
  };
  const at = (hole, side, isRear) => (hole >= target ? end(side) : place(hole, side, row, sides, isRear));
  const hole = ([cx, cy], r) => html`<circle class="hole" cx=${cx} cy=${cy} r=${r} />`;
  const peg = (n, side, isRear) => {
    const [x, y] = at(n, side, isRear);
    return html`<circle class=${classes("peg", `side${side}`, isRear && "rear")} r="5.6" style=${{ transform: `translate(${x}px, ${y}px)` }} />`;
  };
  return html`<svg viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${`${said}; ${target} wins`}>
    <rect class="plank" width=${width} height=${height} rx="10" />
    ${scores.map((score, side) => html`<g>
      ${Array.from({ length: target - 1 }, (_, n) => hole(place(n + 1, side, row, sides), (n + 1) % 5 ? 2.2 : 3))}
      ${hole(end(side), 4.5)}
      ${peg(rear[side], side, true)}${peg(score, side, false)}</g>`)}</svg>`;
}
