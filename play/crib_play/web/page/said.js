// What is said aloud, what is counted in a show, advice and the review.

import { cardText, lying, lyingCards, make } from "./elements.js";

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const byId = (id) => document.getElementById(id);

function line(call, names) {
  return make("li", {}, make("b", {}, names[call.seat]), ` ${call.cards.map(cardText).join(" ")} ${call.text} `,
    call.points ? make("span", { class: "points" }, `+${call.points}`) : null);
}

export function write(calls, names) {
  const log = byId("log");
  log.append(...calls.map((call) => line(call, names)));
  while (log.childElementCount > 60) log.firstElementChild.remove();
  log.parentElement.scrollTop = log.parentElement.scrollHeight;
}

export const wipe = () => byId("log").replaceChildren();

// For screen readers: the words alone.
export function aloud(text) {
  byId("aloud").textContent = text;
}

export const spoken = (calls, names) => calls.map((call) => `${names[call.seat]}: ${call.text}`).join(". ");

function counted(one, owner) {
  const cards = lyingCards(one.cards);
  if (one.starter !== null) cards.append("+", lying(one.starter));
  return make("div", { class: "counted" }, make("b", {}, `${owner}: ${one.name}`), cards,
    make("span", { class: "points" }, String(one.points)), make("span", { class: "call" }, one.call));
}

// Shows the counts one by one and resolves when the person goes on.
export async function show(frame, owners, wait) {
  const dialog = byId("show"), counts = byId("counts");
  const lines = frame.counted.length > 5; // of a layout
  counts.className = lines ? "lines" : frame.counted.length > 3 ? "several" : "";
  counts.replaceChildren();
  const gone = new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  dialog.showModal();
  byId("go-on").focus();
  for (const one of frame.counted) {
    counts.append(counted(one, owners[one.seat]));
    aloud(`${owners[one.seat]}, ${one.name}: ${one.call}`);
    if (dialog.open) await Promise.race([wait(lines ? 0.5 : 2), gone]);
  }
  await gone;
}

export function advise(choices) {
  const best = choices[0].win;
  fill("Expert", make("ol", {}, choices.map((choice) => make("li", {},
    make("span", {}, percent(choice.win)), make("span", {}, choice.text),
    make("small", {}, choice.win < best ? `${choice.why}; costs ${percent(best - choice.win)}` : choice.why)))));
}

export function hint(choice) {
  fill("Hint", make("p", {}, `${choice.text} (${choice.why})`));
}

export function coached(decision) {
  if (!decision) return silent();
  const words = decision.loss > 0
    ? ["That cost ", make("span", { class: "cost" }, percent(decision.loss)), `: better to ${decision.best} (${decision.why}).`]
    : ["The expert would have done the same."];
  fill("Coach", make("p", {}, words));
}

// Shows the links for seats that are free; `here` if they open on this machine alone.
export function invite(links, here) {
  fill("Invite", make("p", {}, "Send this link to the person who should sit down with you: "),
    ...links.map((link) => make("p", {}, make("a", { href: link }, link))),
    ...(here ? [make("p", {}, "It works only on this machine. To play with other machines, start the server with --host 0.0.0.0.")] : []));
}

function fill(title, ...parts) {
  const close = make("button", { type: "button", "aria-label": "Close", on: { click: silent } }, "×");
  byId("advice").replaceChildren(make("header", {}, make("h2", {}, title), close), ...parts);
  byId("advice").hidden = false;
  aloud([title, ...parts.map((part) => part.textContent)].join(": "));
}

export function silent() {
  byId("advice").hidden = true;
}

// The end: who won, and what the decisions cost, or why nobody says so.
// The end at once; the review takes its time where the expert has to be compiled first.
export function end(title, unjudged, replay) {
  byId("replay").href = replay;
  byId("replay").hidden = false;
  byId("end-title").textContent = title;
  reviewed(unjudged ? `There is no review: ${unjudged}.` : "The expert is judging your decisions…");
  byId("end").showModal();
}

const reviewed = (text) => byId("review").replaceChildren(make("p", { role: "status" }, text));

export async function review(found) {
  await found.then((one) => byId("review").replaceChildren(...costs(one)),
    (error) => reviewed(`There is no review: ${error.message}`));
}

function costs(review) {
  const cell = (text, more) => make("td", { class: more }, text);
  const rows = review.phases.map((one) => make("tr", {}, cell(one.phase), cell(String(one.decisions), "n"), cell(percent(one.loss), "n")));
  const worst = review.worst.map((one) => make("li", {}, `Turn ${one.turn + 1}: ${one.did} cost `,
    make("b", {}, percent(one.loss)), `; better to ${one.best} (${one.why})`));
  return [
    make("h3", {}, "The cost of your decisions, by the expert's judgement"),
    make("table", { class: "review" },
      make("thead", {}, make("tr", {}, ["Decision", "Number", "Mean cost"].map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, rows)),
    ...(worst.length ? [make("h3", {}, "The costliest decisions"), make("ol", {}, worst)] : []),
  ];
}
