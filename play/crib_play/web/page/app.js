// The page: which table is shown, what is played out on it, and what the person does.

import * as hands from "./hands.js";
import * as layout from "./layout.js";
import { make } from "./elements.js";
import * as lobby from "./lobby.js";
import * as said from "./said.js";
import * as talk from "./talk.js";

const FAMILIES = { two_hand: hands, many_hand: hands, table_top: layout };
const PAUSE = 170; // milliseconds for each step of the count speed
const POLL = 1500;
const byId = (id) => document.getElementById(id);

// What is shown: the server's last answer, and what the person is about to do.
const table = { chosen: [], advised: [], gains: {}, to_choose: 0, act, redraw: draw };
let answer = null, sight = null, busy = false, offers = null, speed = 3, coach = false, preparing = false;

const wait = (steps) => new Promise((resolve) => setTimeout(resolve, PAUSE * steps * (speed - 1)));
const family = () => FAMILIES[answer.family];
const judges = () => answer.practice && !answer.unjudged; // no advice while people play with each other

function draw() {
  const focused = document.activeElement?.dataset?.key;
  byId("board").replaceChildren(family().board(sight, table.names, table.gains, answer.sides));
  byId("felt").replaceChildren(family().draw(table, sight));
  if (focused) byId("felt").querySelector(`[data-key="${focused}"]`)?.focus({ preventScroll: true });
  byId("prompt").textContent = prompt();
  for (const id of ["hint", "best"]) byId(id).disabled = !table.to_choose || !judges();
  byId("coach").disabled = !judges();
  for (const id of ["hint", "best", "coach"]) byId(id).title = answer.unjudged ?? "";
  byId("undo").disabled = busy || !answer.practice || answer.turns === 0;
}

function prompt() {
  if (sight.over) return "The game is over";
  if (table.to_choose) return family().prompt(sight, table.names, table.to_choose);
  return busy || sight.mover === null ? "" : `${table.names[sight.mover]} is to move`;
}

const sum = (calls) => calls.reduce((gains, call) => {
  const side = answer.sight.side_of[call.seat];
  return { ...gains, [side]: (gains[side] ?? 0) + call.points };
}, {});

// Plays out what happened, then shows the table as it is.
async function play(found) {
  answer = found;
  table.names = found.names;
  busy = true;
  [table.to_choose, table.chosen, table.advised] = [0, [], []];
  for (const [i, frame] of found.frames.entries()) {
    const own = i === 0 && frame.seat === found.sight.seat;
    if (!own) await wait(1);
    table.gains = sum(frame.calls);
    sight = frame.counted.length ? family().played(sight, frame) : frame.sight;
    said.write(frame.calls, found.names);
    said.aloud(said.spoken(frame.calls, found.names));
    draw();
    if (frame.counted.length) {
      await wait(1.5);
      await said.show(frame, found.owners, wait);
      table.gains = {};
    }
  }
  [sight, busy, table.to_choose] = [found.sight, false, found.to_choose];
  draw();
  byId("table").dataset.turns = found.turns; // what the page has come to, for those who test it
  if (sight.over) return finish();
  if (!table.to_choose) setTimeout(poll, POLL);
}

async function poll() {
  if (!answer || busy || table.to_choose || sight.over) return;
  try {
    const found = await talk.look(answer.table, answer.turns);
    if (found.revision !== answer.revision) return play(found);
  } catch (error) {
    complain(error);
  }
  setTimeout(poll, POLL);
}

async function act(actions) {
  if (busy || !table.to_choose) return;
  await ask(() => talk.act(answer.table, { revision: answer.revision, actions, since: answer.turns, coach: coach && judges() }), async (found) => {
    if (coach && judges()) said.coached(found.coach);
    else said.silent();
    await play(found);
  });
}

// Asks the server; a table that has changed meanwhile is loaded again.
async function ask(question, then) {
  if (busy) return;
  busy = true;
  byId("problem").textContent = "";
  let found;
  try {
    found = await question();
  } catch (error) {
    busy = false;
    if (error.status === 409 && answer) await show(await talk.look(answer.table));
    return complain(error);
  }
  busy = false;
  await then(found);
}

function complain(error) {
  if (!(error instanceof talk.Refused)) throw error;
  byId("problem").textContent = error.message;
  setTimeout(() => { byId("problem").textContent = ""; }, 6000);
}

// Shows a table that was not on the page before.
async function show(found) {
  byId("lobby").hidden = true;
  byId("table").hidden = byId("tools").hidden = false;
  byId("title").textContent = found.game.title;
  location.hash = found.table;
  localStorage.setItem("crib-last", found.table);
  said.wipe();
  said.silent();
  sight = found.sight;
  table.gains = {};
  said.write(found.turns > found.frames.length + found.log.length ? [] : found.opening, found.names);
  for (const calls of found.log) said.write(calls, found.names);
  if (found.invitations?.length) {
    const here = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
    const origin = here ? offers.addresses[0] ?? location.origin : location.origin;
    said.invite(found.invitations.map((one) => `${origin}/#${found.table}.${one}`), origin === location.origin && here);
  }
  await play(found);
}

async function finish() {
  const mine = sight.side_of[sight.seat];
  const [scores, what] = sight.match_score ? [sight.match_score, " game points"] : [sight.scores, ""];
  const result = answer.winner === mine ? "You have won" : "You have lost";
  const others = scores.filter((_, side) => side !== mine);
  said.end(`${result}, ${[scores[mine], ...others].join(" to ")}${what}`, answer.unjudged, talk.replay(answer.table));
  if (!answer.unjudged) await said.review(talk.review(answer.table));
}

async function start() {
  settings();
  prepare();
  offers = await talk.offers();
  speed = lobby.lastChoices().speed ?? offers.speed;
  coach = lobby.lastChoices().coach ?? offers.coach;
  byId("speed").value = String(speed);
  byId("coach").setAttribute("aria-pressed", String(coach));
  const [id, invitation] = location.hash.slice(1).split(".");
  if (id) {
    try {
      return await show(await (invitation ? talk.sit(id, invitation) : talk.look(id)));
    } catch (error) {
      complain(error);
    }
  }
  const last = localStorage.getItem("crib-last");
  if (last && await talk.look(last).then((found) => !found.sight.over, () => false)) {
    byId("again").hidden = false;
    byId("resume").onclick = async (event) => {
      event.preventDefault();
      await show(await talk.look(last));
    };
  }
  lobby.lay(offers, deal);
}

function deal(offer) {
  setTimeout(prepare, PAUSE); // what this game alone needs may begin now
  return ask(() => talk.open(offer), show);
}

// Says how much of what games need is compiled, until all of it is.
async function prepare() {
  if (preparing) return;
  preparing = true;
  for (let waits = true; waits;) {
    const { done, of } = await talk.prepared().catch(() => ({ done: 0, of: 0 }));
    waits = done < of;
    byId("preparing").hidden = !waits;
    byId("preparing").textContent = waits ? `Preparing the games: ${done} of ${of}` : "";
    if (waits) await new Promise((resolve) => setTimeout(resolve, 500));
  }
  preparing = false;
}

function settings() {
  const chosen = localStorage.getItem("crib-theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const paint = () => {
    const theme = localStorage.getItem("crib-theme") ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    byId("theme").textContent = theme === "dark" ? "☀" : "☾";
  };
  byId("theme").onclick = () => {
    localStorage.setItem("crib-theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    paint();
  };
  dark.addEventListener("change", paint);
  paint(chosen);
  byId("speed").replaceChildren(...Array.from({ length: 9 }, (_, i) => make("option", { value: i + 1 }, String(i + 1))));
  byId("speed").onchange = () => {
    speed = Number(byId("speed").value);
    lobby.keep({ speed });
  };
}

byId("hint").onclick = () => ask(() => talk.advice(answer.table), ({ choices }) => {
  table.advised = choices[0].actions;
  draw();
  said.hint(choices[0]);
});
byId("best").onclick = () => ask(() => talk.advice(answer.table), ({ choices }) => {
  table.advised = choices[0].actions;
  draw();
  said.advise(choices);
});
byId("undo").onclick = () => ask(() => talk.undo(answer.table, answer.revision), show);
byId("coach").onclick = () => {
  coach = !coach;
  byId("coach").setAttribute("aria-pressed", String(coach));
  lobby.keep({ coach });
};
byId("go-on").onclick = () => byId("show").close();
byId("once-more").onclick = () => {
  byId("end").close();
  const { game, opponent, partner, seat } = lobby.lastChoices();
  deal(JSON.parse(JSON.stringify({ game, opponent, partner, seat })));
};

const KEYS = { h: "hint", b: "best", u: "undo", c: "coach" };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !answer) return;
  if (event.target.matches("select, input") || document.querySelector("dialog[open]")) return;
  if (event.key === "Enter" && event.target === document.body) byId("felt").querySelector('[data-key="discard"]')?.click();
  else if (KEYS[event.key]) byId(KEYS[event.key]).click();
  else if (!busy && family().key(event.key, byId("felt"))) event.preventDefault();
});
window.matchMedia("(max-width: 52rem)").addEventListener("change", () => { if (answer) draw(); });

start().catch(complain);
