// Beside the felt: what was said, advice, the invitation; and the dialogs of the rules and the end.

import { html } from "./vendor/preact-htm.js";
import { cardText } from "./cards.js";
import * as talk from "./talk.js";

export const percent = (share) => `${(100 * share).toFixed(1)} %`;
export const signed = (share) => `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`;
const points = (n) => (n ? html`<span class="points">+${n}</span>` : null);

// The lines of the log for a turn: its calls and counts.
export function lines(turn, { names, owners }) {
  return [
    ...turn.calls.map((call) => ({ who: names[call.seat], cards: call.cards, text: call.text, points: call.points })),
    ...(turn.counted ?? []).map((one) => ({ who: / \d/.test(one.name) ? one.name : `${owners[one.seat]}, ${one.name}`, cards: one.cards, text: one.call, points: one.points })),
  ];
}

export function Log({ log }) {
  return html`<section aria-label="Calls" tabindex="0" class="said" ref=${(element) => { if (element) element.scrollTop = element.scrollHeight; }}>
    <h2>Calls</h2><ol id="log">${log.map((line) => html`<li key=${line.n}><b>${line.who}</b> ${line.cards?.map(cardText).join(" ")} ${line.text} ${points(line.points)}</li>`)}</ol></section>`;
}

function Panel({ title, close, children }) {
  return html`<section id="advice" class="advice" aria-label=${title}><header><h2>${title}</h2>
    <button type="button" aria-label="Close" onClick=${close}>×</button></header>${children}</section>`;
}

export function Advice({ table }) {
  const { kind, choices, decision } = table.advice, { judge } = table.answer;
  const panel = (title, ...children) => html`<${Panel} title=${title} close=${table.silent}>${children}<//>`;
  if (kind === "hint") return panel("Hint", html`<p>${choices[0].text} (${choices[0].why})</p>`);
  if (kind === "best") {
    const best = choices[0].win;
    return panel(`By ${judge}`, html`<ol>${choices.map((choice) => html`<li><span>${percent(choice.win)}</span><span>${choice.text}</span>
      <small>${choice.win < best ? `${choice.why}; costs ${percent(best - choice.win)}` : choice.why}</small></li>`)}</ol>`);
  }
  return panel("Coach", decision.loss > 0
    ? html`<p>That cost <span class="cost">${percent(decision.loss)}</span>: better to ${decision.best} (${decision.why}).</p>`
    : html`<p>${judge} would have done the same.</p>`);
}

// The links to free seats; each is hidden once its seat is taken.
export function Invite({ table, page }) {
  const here = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  const origin = here ? page.offers.addresses[0] ?? location.origin : location.origin;
  const links = table.answer.invitations.map((one) => `${origin}/#${table.answer.table}.${one}`);
  return html`<section id="invite" class="advice" aria-label="Invitation"><h2>Invite</h2>
    <p>Send ${links.length > 1 ? "these links" : "this link"} to who should sit down with you:</p>
    ${links.map((link) => html`<p class="link"><a href=${link}>${link}</a>
      <button type="button" onClick=${() => navigator.clipboard?.writeText(link).then(() => page.say("Copied."))}>Copy</button></p>`)}
    ${here && origin === location.origin ? html`<p>It works only on this machine. To play with other machines, start the server with --host 0.0.0.0.</p>` : null}</section>`;
}

export const WinBar = ({ win }) => html`<div class="winbar" role="img" aria-label=${win === null ? "Your chance of winning is not known yet" : `Your chance of winning: ${percent(win)}`}>
  <span style=${{ width: `${100 * (win ?? 0.5)}%` }} /><b>${win === null ? "–" : percent(win)}</b></div>`;

const modal = (element) => { if (element && !element.open) element.showModal(); };

export function Rules({ page }) {
  return html`<dialog id="rules" aria-label="The rules" ref=${modal} onClose=${page.closeRules}>
    <div tabindex="0" role="region" aria-label="Rules" class="text" dangerouslySetInnerHTML=${{ __html: page.rulesText }} />
    <button class="main" type="button" onClick=${page.closeRules}>Close</button></dialog>`;
}

// The end: the result, and the review of the decisions, which takes a while, or why there is none.
export function End({ table, page }) {
  const { answer, review } = table, { sight } = answer;
  const mine = sight.side_of[sight.seat];
  const [scores, what] = sight.match_score ? [sight.match_score, " game points"] : [sight.scores, ""];
  const others = scores.filter((_, side) => side !== mine);
  const undone = answer.undone ? ` (${answer.undone} turn${answer.undone === 1 ? "" : "s"} taken back)` : "";
  const left = answer.resigned === null ? "" : answer.resigned === sight.seat ? "; you resigned" : `; ${answer.names[answer.resigned]} resigned`;
  return html`<dialog id="end" aria-labelledby="end-title" ref=${modal} onClose=${table.closeEnd}>
    <h2 id="end-title">${`You have ${answer.winner === mine ? "won" : "lost"}, ${[scores[mine], ...others].join(" to ")}${what}${left}${undone}`}</h2>
    <div id="review" tabindex="0" role="region" aria-label="Your decisions">${typeof review === "string" ? html`<p role="status">${review}</p>` : html`<${Costs} review=${review} replay=${talk.replay(answer.table)} judge=${answer.judge} />`}</div>
    ${table.muggins.counts ? html`<p id="counted">You counted ${table.muggins.right} of ${table.muggins.counts} right; ${table.muggins.claimed} claimed by muggins, which the score leaves out.</p>` : null}
    <p class="row"><button class="main" type="button" id="once-more" onClick=${page.again}>Play again</button>
      <a class="button" id="replay" href=${talk.replay(answer.table)} target="_blank">Replay</a>
      <button type="button" onClick=${table.closeEnd}>Look at the table</button>
      <a class="button" href="/">Other game</a></p></dialog>`;
}

function Costs({ review, replay, judge }) {
  return html`<h3>The cost of your decisions, by the judgement of ${judge}</h3>
    <table class="review"><thead><tr>${["Decision", "Number", "Mean cost"].map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
      <tbody>${review.phases.map((one) => html`<tr><td>${one.phase}</td><td class="n">${one.decisions}</td><td class="n">${percent(one.loss)}</td></tr>`)}</tbody></table>
    ${review.worst.length ? html`<h3>The costliest decisions</h3><ol>${review.worst.map((one) => html`<li>
      <a href=${`${replay}#turn=${one.turn}`} target="_blank">Turn ${one.turn + 1}</a>: ${one.did} cost <b>${percent(one.loss)}</b>; better to ${one.best} (${one.why})</li>`)}</ol>` : null}
    ${review.luck === null ? null : html`<p id="luck">Luck: <b>${signed(review.luck)}</b> of a win, which nobody's choices account for.</p>`}`;
}
