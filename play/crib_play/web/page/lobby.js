// The lobby: choose a game and sit down, continue a game, and see the results of past games.

import { html } from "./vendor/preact-htm.js";
import { percent, signed } from "./panels.js";
import * as store from "./store.js";

const FAMILIES = [
  { name: "six", title: "Six cards", about: "The game of today, to 121.", games: { six: "one game", match: "a match to seven game points" } },
  { name: "five", title: "Five cards", about: "The old game, to 61: one count to 31.", games: { five: "one game" } },
  { name: "three", title: "Three and four hands", about: "Each alone, or partners opposite each other.",
    games: { three: "three, each alone", four: "four, in partnership", "cut-throat": "four, each alone" } },
  { name: "table-top", title: "Table Top", about: "Rows against columns on a five by five layout.",
    games: { "table-top": "two", partners: "four, in partnership", ship: "two, Ship's variation", "ship-partners": "four, Ship's variation" } },
];

function Opponents({ id, label, value, agents, levels, set }) {
  // Of levels with one name the first that plays: "Strong" is `learned` with three and four hands.
  const known = levels.filter((level) => agents.includes(level.agent))
    .filter((level, i, all) => all.findIndex((one) => one.name === level.name) === i);
  const rest = agents.filter((name) => name !== "person" && !known.some((level) => level.agent === name));
  return html`<label>${label} <select id=${id} value=${value} onChange=${(event) => set(event.target.value)}>
    <optgroup label="Levels">${known.map((level) => html`<option value=${level.agent} selected=${level.agent === value}>${level.name}</option>`)}</optgroup>
    <optgroup label="A person"><option value="person" selected=${value === "person"}>a person, by invitation</option></optgroup>
    ${rest.length ? html`<optgroup label="More, by method">${rest.map((name) => html`<option value=${name} selected=${name === value}>${name}</option>`)}</optgroup>` : null}
  </select></label>`;
}

export function offered(page) {
  const { offers, offer } = page;
  const game = offers.games.find((one) => one.name === offer.game) ?? offers.games[0];
  const fit = (wanted) => [wanted, offers.opponent, "learned", "rule_based", ...game.agents].find((name) => game.agents.includes(name));
  const found = { game: game.name, opponent: fit(offer.opponent) };
  if (game.has_partners) found.partner = fit(offer.partner ?? found.opponent);
  if (game.sides) found.seat = offer.seat ?? 0;
  if (offer.name) found.name = offer.name;
  return found;
}

export function Lobby({ page }) {
  const { offers } = page, offer = offered(page), game = offers.games.find((one) => one.name === offer.game);
  const family = FAMILIES.find((one) => offer.game in one.games);
  const set = (more) => page.setOffer({ ...page.offer, ...more });
  const level = offers.levels.find((one) => one.agent === offer.opponent);
  const withPeople = [offer.opponent, offer.partner].includes("person");
  const open = store.games().filter((one) => !one.over);
  const found = store.statistics();
  return html`<main id="lobby"><form id="offer" onSubmit=${(event) => { event.preventDefault(); page.deal(offer); }}>
    <fieldset><legend>Game</legend><div id="games">${FAMILIES.map((one) => html`<label class="game">
      <input type="radio" name="family" value=${one.name} checked=${one === family}
        onChange=${() => set({ game: Object.keys(one.games)[0] })} /><b>${one.title}</b><span>${one.about}</span></label>`)}</div></fieldset>
    <div class="who">
      ${Object.keys(family.games).length > 1 ? html`<label>For <select id="variant" value=${offer.game} onChange=${(event) => set({ game: event.target.value })}>
        ${Object.entries(family.games).map(([name, words]) => html`<option value=${name} selected=${name === offer.game}>${words}</option>`)}</select></label>` : null}
      <${Opponents} id="opponent" label="Against" value=${offer.opponent} agents=${game.agents} levels=${offers.levels} set=${(opponent) => set({ opponent })} />
      ${game.has_partners ? html`<${Opponents} id="partner" label="With" value=${offer.partner} agents=${game.agents} levels=${offers.levels} set=${(partner) => set({ partner })} />` : null}
      ${game.sides ? html`<label>You score <select id="seat" onChange=${(event) => set({ seat: Number(event.target.value) })}>
        ${game.sides.map((side, i) => html`<option value=${i} selected=${i === offer.seat}>the ${side}</option>`)}</select></label>` : null}
      ${withPeople ? html`<label>Your name <input id="name" maxlength="20" value=${offer.name ?? ""} onInput=${(event) => set({ name: event.target.value })} /></label>` : null}
    </div>
    <p class="about" id="about">${level?.about ?? (offer.opponent === "person" ? "You get a link to send." : "An agent, by the name of its method.")}</p>
    <div class="row"><button class="main" type="submit" id="deal" disabled=${page.seconds > 0}>${page.seconds > 0 ? `Preparing, about ${page.seconds} s` : "Deal"}</button>
      <button type="button" onClick=${page.rules}>Rules</button></div></form>
    ${open.length ? html`<section id="open" aria-label="Your unfinished games"><h2>Go on with</h2><ul>${open.slice(0, 6).map((one) => html`<li>
      <a href=${`#${one.table}`} onClick=${(event) => { event.preventDefault(); page.resume(one.table); }}>${one.title}</a> against ${one.against}, ${one.scores.join(" to ")}</li>`)}</ul></section>` : null}
    ${found ? html`<details id="statistics"><summary>Your games: ${found.won} of ${found.games} won</summary>
      <table><thead><tr><th scope="col">Points a deal</th><th scope="col">you</th><th scope="col">others</th></tr></thead>
        <tbody>${found.rows.map(([phase, mine, theirs]) => html`<tr><th scope="row">${phase}</th><td>${mine.toFixed(1)}</td><td>${theirs.toFixed(1)}</td></tr>`)}</tbody></table>
      <table><thead><tr><th scope="col">Decision</th><th scope="col">number</th><th scope="col">mean cost</th></tr></thead>
        <tbody>${Object.entries(found.phases).map(([phase, one]) => html`<tr><th scope="row">${phase}</th><td>${one.n}</td><td>${percent(one.loss / one.n)}</td></tr>`)}</tbody></table>
      ${found.luck === null ? null : html`<p>Luck, on average: ${signed(found.luck)} of a win a game.</p>`}</details>` : null}</main>`;
}
