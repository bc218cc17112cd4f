// Table Top: the five by five layout with what each line makes so far, the card in turn, the crib.

import { html } from "./vendor/preact-htm.js";
import { Lying, Player, cardName } from "./cards.js";
import { Show } from "./show.js";

const SIZE = 5, CENTRE = 12, CRIB = 25;
const SIDES = ["rows", "columns"];

// No board of pegs: two bars show how far each side has come.
export function Head({ table, sight }) {
  return html`<div class="bars">${SIDES.map((name, side) => html`<div class="side-of">
    <${Player} name=${name} side=${side} score=${sight.scores[side]} gain=${table.gains[side]}
      marks=${[table.answer.names.filter((_, seat) => seat % 2 === side).join(" and ")]} />
    <div class=${`bar-of side${side}`}><span style=${{ width: `${Math.min(100, (100 * sight.scores[side]) / sight.target)}%` }} /></div></div>`)}</div>`;
}

export function prompt(sight) {
  const open = sight.legal.some((action) => action !== CRIB);
  if (!open) return "This card must go to the crib";
  return sight.legal.includes(CRIB) ? "Place your card, or send it to the crib" : "Place your card";
}

// The position after the last card of a round, before the count.
export function played(sight, frame) {
  const rows = frame.counted.filter((one) => one.name.startsWith("row"));
  const points = (name) => frame.counted.filter((one) => one.name.startsWith(name)).map((one) => one.points);
  const crib = frame.counted.find((one) => one.name === "crib");
  return {
    ...sight, mover: null, legal: [], card: null, layout: rows.flatMap((row) => row.cards),
    rows: points("row"), columns: points("column"),
    crib: crib.cards.map((card) => ({ card })),
  };
}

const place = (cell) => `row ${Math.floor(cell / SIZE) + 1}, column ${(cell % SIZE) + 1}`;

function Cell({ table, sight, at, lit }) {
  const card = sight.layout[at];
  if (card !== null) {
    const kind = lit?.includes(card) ? "lit" : at === sight.last ? "latest" : at === CENTRE ? "starter" : "";
    return html`<${Lying} card=${card} kind=${kind} from="turncard" alt=${`${cardName(card)}, ${place(at)}`} />`;
  }
  const open = table.to_choose > 0 && sight.legal.includes(at);
  const more = `${open ? " open" : ""}${table.advised.includes(at) ? " advised" : ""}`;
  return html`<button type="button" class=${`cell${more}`} disabled=${!open} aria-label=${`${place(at)}${open ? "" : ", closed"}`}
    data-drop=${open ? at : undefined} data-key=${open ? `cell-${at}` : undefined} data-cell=${open ? at : undefined}
    onClick=${() => table.act([at])} />`;
}

export function Felt({ table, sight, muggins }) {
  const mine = sight.seat % 2, { names } = table.answer, shown = table.show?.one;
  const uncounted = ({ frame, done, asked }, name) => frame.counted.findIndex((one) => one.name === name) >= done + !asked;
  const head = (made, side, i) => {
    const name = `${SIDES[side].slice(0, -1)} ${i + 1}`;
    const hidden = muggins && side === mine && (!table.show || uncounted(table.show, name));
    const value = hidden ? "?" : made; // the person counts their own lines
    return html`<th scope=${side ? "col" : "row"} class=${`${side === mine ? "mine" : ""}${shown?.name === name ? " lit" : ""}`}
      aria-label=${`${name}: ${value}`}>${value}</th>`;
  };
  const numbers = Array.from({ length: SIZE }, (_, i) => i);
  const open = table.to_choose > 0 && sight.legal.includes(CRIB), yours = sight.mover === sight.seat;
  const drop = yours && table.to_choose
    ? (where) => sight.legal.includes(Number(where)) && table.act([Number(where)]) : undefined;
  const marks = (seat) => [
    ...(names.length > 2 ? [] : [SIDES[seat % 2]]), ...(seat === sight.dealer ? ["dealer"] : []),
    ...(sight.owed[seat] ? [`owes the crib ${sight.owed[seat]}`] : []),
  ];
  return html`<div class="top">
    <table class="layout" aria-label="The layout: rows and columns with what each makes"><tbody>
      ${numbers.map((row) => html`<tr>${numbers.map((column) => html`<td><${Cell} table=${table} sight=${sight} at=${SIZE * row + column} lit=${shown?.cards} /></td>`)}
        ${head(sight.rows[row], 0, row)}</tr>`)}
      <tr>${sight.columns.map((value, i) => head(value, 1, i))}<td /></tr></tbody></table>
    <div class="side">
      ${table.show ? html`<${Show} table=${table} />` : html`<div class="turncard" data-origin="turncard">${sight.card === null ? html`<div class="slot" />` : html`<${Lying} key=${`${sight.card}${Boolean(drop)}`}
        card=${sight.card} alt=${`${yours ? "your card" : "your partner's card"}: ${cardName(sight.card)}`} drop=${drop} />`}</div>`}
      <div class=${`crib${open ? " open" : ""}${table.advised.includes(CRIB) ? " advised" : ""}`} data-drop=${open ? CRIB : undefined}>
        <span>Crib of the ${SIDES[sight.dealer % 2]}</span>
        <div class="cards">${sight.crib.map((one) => html`<${Lying} card=${one.card} kind=${shown?.name === "crib" ? "lit" : ""} />`)}</div>
        ${open ? html`<button type="button" data-key="crib" data-drop=${CRIB} onClick=${() => table.act([CRIB])}>To the crib</button>` : null}</div>
      ${table.show ? null : html`<div class="players">${names.map((name, seat) => html`<${Player} name=${name} side=${seat % 2} turn=${sight.mover === seat} marks=${marks(seat)} />`)}</div>`}
    </div></div>`;
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
