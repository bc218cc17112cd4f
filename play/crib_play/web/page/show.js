// The show on the felt: hand by hand, each combination lit and named as it is counted.

import { html } from "./vendor/preact-htm.js";
import { Lying, cardText } from "./cards.js";

// The hand counted now and its combinations so far; of a layout no cards: they are lit above.
function Now({ table, frame }) {
  const { one, part, asked } = table.show;
  const whose = / \d/.test(one.name) ? one.name : `${table.answer.owners[one.seat]}: ${one.name}`;
  const parts = one.parts.slice(0, part + 1), lit = asked ? [] : parts.at(-1)?.[2] ?? [];
  const so_far = parts.reduce((sum, [, points]) => sum + points, 0);
  const words = asked ? "What does it make?" : parts.length ? parts.map(([name, points]) => `${name} ${points}`).join(", ") : one.call;
  const inLayout = frame.counted.length > 6;
  return html`<div class="counting">
    <p><b>${whose}</b> ${asked ? "" : html`<span class="points">${part < 0 && one.parts.length ? "" : so_far}</span>`}</p>
    ${inLayout ? null : html`<div class="cards">${[...one.cards, one.starter].filter((card) => card !== null).map((card, i) =>
      html`<${Lying} key=${card} card=${card} kind=${`${lit.includes(card) ? "lit" : ""}${i === one.cards.length ? " apart" : ""}`}
        from=${one.name === "crib" ? "crib" : `seat-${one.seat}`} />`)}</div>`}
    <p class="call">${words}</p>
    ${asked ? html`<form class="claim" onSubmit=${(event) => { event.preventDefault(); table.claim(Number(event.target.points.value)); }}>
      <label>Points <input name="points" type="number" min="0" max="29" required inputmode="numeric" /></label>
      <button class="main" type="submit">Count</button></form>` : null}
    ${table.show.missed ? html`<p class="missed">${table.show.missed}</p>` : null}</div>`;
}

export function Show({ table }) {
  const { frame, done, over } = table.show, inLayout = frame.counted.length > 6;
  const total = (side) => frame.counted.reduce((sum, one) => sum + (one.seat % 2 === side ? one.points : 0), 0);
  return html`<section id="show" class="show" aria-label="The show" data-done=${done}>
    ${over ? null : html`<${Now} table=${table} frame=${frame} />`}
    ${inLayout ? over && html`<p class="totals">${table.answer.owners.map((name, side) => html`<span class=${`side${side}`}>${name} <b class="points">${total(side)}</b></span> `)}</p>`
      : html`<ul class="counts">${frame.counted.slice(0, done).map((one) => html`<li class="counted"><b>${table.answer.owners[one.seat]}, ${one.name}</b>
        <span class="of">${one.cards.map(cardText).join(" ")}</span><span class="call">${one.call}</span><span class="points">${one.points}</span></li>`)}</ul>`}
    <button class="main" type="button" id="go-on" onClick=${table.goOn}>${over ? "Continue" : "Skip"}</button></section>`;
}
