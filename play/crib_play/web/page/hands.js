// Games with hands: the others across and at the sides, the pile between, the count, the starter, the crib.

import { html } from "./vendor/preact-htm.js";
import { Board, Choosable, Lying, Player, cardName } from "./cards.js";

// The places of the other seats, from the viewer's left on, by number of players.
const PLACES = { 2: ["across"], 3: ["left", "right"], 4: ["left", "across", "right"] };
const CRIBS = { left: "crib on the left", across: "crib across", right: "crib on the right", partner: "partner's crib" };

const games = (sight, side) =>
  sight.match_score ? [`${sight.match_score[side]} of ${sight.match_target} game points`] : [];

// The board; under it the scores of partners, who have one together.
export function Head({ table, sight }) {
  const { names, sides } = table.answer;
  const board = html`<${Board} sight=${sight} names=${sides} />`;
  if (sides.length === names.length) return board;
  return html`<div>${board}<div class="together">${sides.map((name, side) => html`<${Player}
    name=${name.replaceAll(/ \([^)]*\)/g, "")} side=${side} score=${sight.scores[side]} gain=${table.gains[side]} marks=${games(sight, side)} />`)}</div></div>`;
}

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

// The position after the last card of a deal, before the next deal.
export function played(sight, frame) {
  const [card] = frame.calls.flatMap((call) => call.cards);
  if (card === undefined || sight.phase !== "pegging") return sight;
  return {
    ...sight, mover: null, hand: sight.hand.filter((held) => held.card !== card),
    held: sight.held.map((n, seat) => (seat === frame.seat ? n - 1 : n)),
    pile: [...sight.pile, { card, seat: frame.seat, out: false }],
  };
}

function Seat({ table, sight, who }) {
  const side = sight.side_of[who], alone = sight.scores.length === table.answer.names.length;
  const marks = who === sight.dealer ? ["dealer"] : [];
  if (sight.passed.includes(who)) marks.push("go");
  if (table.present && table.answer.people.includes(who) && who !== sight.seat) marks.push(table.present.includes(who) ? "here" : "away");
  const [place, agent] = table.answer.names[who].split(/ (?=\()/); // "left (greedy)"
  return html`<${Player} name=${[place, agent && html`<span class="agent"> ${agent}</span>`]} side=${side}
    turn=${sight.mover === who} marks=${alone ? [...marks, ...games(sight, side)] : marks}
    score=${alone ? sight.scores[side] : undefined} gain=${alone ? table.gains[side] : undefined} />`;
}

// Cards in the order played; each lies the lower, the later its seat comes to the left of mine.
function Pile({ table, sight }) {
  const start = sight.pile.findIndex((one) => !one.out), players = table.answer.names.length;
  return html`<ol class="pile" aria-label="Cards played" data-drop="pile">${sight.pile.map((one, i) => html`<${Lying}
    key=${one.card} card=${one.card} tag="li" from=${`seat-${one.seat}`}
    kind=${`side${sight.side_of[one.seat]} ${one.out ? "out" : ""} ${i === start && i ? "fresh" : ""}`}
    style=${{ "--down": ((one.seat - sight.seat - 1 + players) % players) / (players - 1) }}
    alt=${`${cardName(one.card)}, ${table.answer.names[one.seat]}${one.out ? ", out of play" : ""}`} />`)}</ol>`;
}

export function Felt({ table, sight }) {
  const me = sight.seat, { names } = table.answer, players = names.length;
  const laying = sight.phase === "discard", open = table.to_choose > 0, { chosen } = table;
  const hand = [...sight.hand].sort((a, b) => a.card - b.card);

  function choose(card) {
    if (!laying) return table.act([card]);
    const kept = chosen.includes(card) ? chosen.filter((one) => one !== card) : [...chosen, card];
    table.choose(kept.slice(-table.to_choose));
  }
  function drop(card, where) {
    if (laying && where === "crib") {
      const now = [...new Set([...chosen, card])];
      if (now.length === table.to_choose) table.act(now);
      else table.choose(now);
    } else if (!laying && where === "pile") table.act([card]);
  }
  return html`<div class=${`hands${players > 2 ? " many" : ""}`}>
    ${PLACES[players].map((place, i) => {
      const who = (me + 1 + i) % players;
      return html`<div class=${`row player-row at-${place}`}><${Seat} table=${table} sight=${sight} who=${who} />
        <div class="cards backs" role="img" aria-label=${`${names[who]} holds ${sight.held[who]}`} data-origin=${`seat-${who}`}>
          ${Array.from({ length: sight.held[who] }, () => html`<${Lying} card=${null} alt="" />`)}</div></div>`;
    })}
    <div class="middle">
      <div class="stack" data-origin="pack"><${Lying} key=${sight.starter} card=${sight.starter} alt=${sight.starter === null ? "the pack" : cardName(sight.starter)} /><span>starter</span></div>
      ${laying ? html`<span />` : html`<${Pile} table=${table} sight=${sight} />`}
      ${laying ? html`<span />` : html`<p class="count"><b data-count="">${sight.count}</b><span>count</span></p>`}
      <div class="stack" data-drop="crib" data-origin="crib">
        ${sight.crib === 0 ? html`<div class="slot" />` : html`<${Lying} card=${null} alt="the crib, face down" />`}
        <span>${cribOf(sight, names)}</span></div>
    </div>
    <div class=${`cards hand${hand.length > 4 ? " six" : ""}`} role="group" aria-label="Your cards" data-origin=${`seat-${me}`}>
      ${hand.map(({ card, legal }) => (open
        ? html`<${Choosable} key=${card} card=${card} closed=${!legal} pressed=${laying ? chosen.includes(card) : undefined}
            advised=${table.advised.includes(card)} onClick=${() => choose(card)} from="pack"
            label=${legal ? undefined : `${cardName(card)}, past 31`} drop=${(where) => drop(card, where)} />`
        : html`<${Lying} key=${card} card=${card} from="pack" kind=${sight.mover === me && !legal ? "closed" : ""} />`))}</div>
    <div class="row player-row"><${Seat} table=${table} sight=${sight} who=${me} />
      ${open && laying ? html`<button type="button" class="main" data-key="discard" disabled=${chosen.length !== table.to_choose}
        onClick=${() => table.act(chosen)}>Discard</button>` : null}</div></div>`;
}

// Keys: 1 to 6 for a card in hand, from the left.
export function key(pressed, felt) {
  if (!/^[1-6]$/.test(pressed)) return false;
  felt.querySelectorAll(".hand button.card")[Number(pressed) - 1]?.click();
  return true;
}
