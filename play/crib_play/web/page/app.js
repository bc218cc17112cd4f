// The page: which table is shown, what is played out on it, and what the person does.

import { html, render } from "./vendor/preact-htm.js";
import { narrow } from "./cards.js";
import * as hands from "./hands.js";
import * as layout from "./layout.js";
import { Lobby, offered } from "./lobby.js";
import { moving, sound } from "./motion.js";
import { Advice, End, Invite, Log, Rules, WinBar, lines } from "./panels.js";
import { Show } from "./show.js";
import * as store from "./store.js";
import * as talk from "./talk.js";

const FAMILIES = { two_hand: hands, many_hand: hands, table_top: layout };
const PAUSE = 340; // milliseconds for each step of the count speed
const SPEEDS = 3;
const dark = window.matchMedia("(prefers-color-scheme: dark)");

// The state of the page. `table` has the server's last answer and what the person is about to do.
const settings = { speed: 2, coach: false, sound: true, winbar: false, muggins: false };
const page = { offers: null, offer: {}, seconds: 0, problem: "", aloud: "", rulesText: null, rulesOpen: false,
  setOffer, deal, resume, rules, closeRules, again, say };
let table = null, sight = null, busy = false, numbered = 0;

const wait = (steps) => new Promise((resolve) => setTimeout(resolve, PAUSE * steps * (settings.speed - 1)));
const family = () => FAMILIES[table.answer.family];
const judges = () => table.answer.practice; // no advice while people play with each other

// --- drawing ------------------------------------------------------------------------------------

const root = () => document.getElementById("felt") ?? document.body;
const paint = () => render(html`<${Page} />`, document.body);
const draw = () => moving(paint, root, settings.speed === 1 ? 0 : undefined);

function Tool({ id, name, text, pressed, disabled, title, onClick }) {
  return html`<button type="button" id=${id} aria-keyshortcuts=${name} aria-pressed=${pressed === undefined ? undefined : String(pressed)}
    disabled=${disabled} title=${title ?? ""} onClick=${onClick}>${text}</button>`;
}

function Tools() {
  const able = table.to_choose && judges();
  const set = (name) => () => choose({ [name]: !settings[name] });
  return html`<nav aria-label="Table" id="tools">
    <${Tool} id="hint" name="h" text=${table.asking ?? "Hint"} disabled=${!able} onClick=${() => advise("hint")} />
    <${Tool} id="best" name="b" text="Best" disabled=${!able} onClick=${() => advise("best")} />
    <${Tool} id="undo" name="u" text="Undo" disabled=${busy || !table.answer.practice || !table.answer.turns} onClick=${undo} />
    <button type="button" onClick=${rules}>Rules</button>
    <details id="more"><summary>More</summary><div class="menu">
      <${Tool} id="coach" name="c" text="Coach" pressed=${settings.coach} disabled=${!judges()} onClick=${set("coach")} />
      <${Tool} id="winbar" text="Win bar" pressed=${settings.winbar} disabled=${!judges()} onClick=${set("winbar")} />
      <${Tool} id="muggins" text="Muggins: I count" pressed=${settings.muggins} title="To practise counting: what you miss is claimed, the score counts in full" onClick=${set("muggins")} />
      <${Tool} id="sound" text="Sound" pressed=${settings.sound} onClick=${set("sound")} />
      <label>Speed <select id="speed" aria-label="Count speed, 1 is fastest" onChange=${(event) => choose({ speed: Number(event.target.value) })}>
        ${Array.from({ length: SPEEDS }, (_, i) => html`<option value=${i + 1} selected=${settings.speed === i + 1}>${i + 1}</option>`)}</select></label>
      <button type="button" id="resign" disabled=${busy || sight.over} onClick=${resign}>Resign</button></div></details></nav>`;
}

function Page() {
  const theme = localStorage.getItem("crib-theme") ?? (dark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  const other = theme === "dark" ? "light" : "dark";
  return html`<header class="bar"><h1><a href="/" class="brand">Crib</a> <span id="title">${table?.answer.game.title}</span></h1>
      ${table && html`<${Tools} />`}
      <button type="button" id="theme" aria-label="Light or dark" onClick=${() => { localStorage.setItem("crib-theme", other); paint(); }}>${theme === "dark" ? "☀" : "☾"}</button></header>
    ${table ? html`<${Table} />` : page.offers && html`<${Lobby} page=${page} />`}
    ${page.rulesOpen && html`<${Rules} page=${page} />`}
    ${table?.review && html`<${End} table=${table} page=${page} />`}
    <div id="aloud" class="unseen" aria-live="polite">${page.aloud}</div>
    <div id="problem" class="problem" role="alert">${page.problem}</div>`;
}

function Table() {
  const { Head, Felt } = family(), { answer } = table;
  const isLayout = answer.family === "table_top";
  return html`<main id="table" class=${answer.family} data-turns=${table.shownTurns}>
    <section id="board" class="board" aria-label="Board"><${Head} table=${table} sight=${sight} />
      ${settings.winbar && judges() ? html`<${WinBar} win=${table.win} />` : null}</section>
    <section id="felt" class="felt" aria-label="Cards">
      ${table.show && !isLayout ? null : html`<${Felt} table=${table} sight=${sight} muggins=${settings.muggins} />`}
      ${table.show && !isLayout ? html`<${Show} table=${table} />` : null}</section>
    <aside class="beside">
      ${table.advice ? html`<${Advice} table=${table} />` : answer.invitations?.length ? html`<${Invite} table=${table} page=${page} />` : null}
      <${Log} log=${table.log} /></aside>
    <p id="prompt" class="prompt" role="status">${prompt()}</p></main>`;
}

function prompt() {
  if (table.next) return html`A new game is dealt: <button type="button" onClick=${again}>sit down</button>`;
  if (table.show) return "";
  if (sight.over) return "The game is over";
  if (table.to_choose) return family().prompt(sight, table.answer.names, table.to_choose);
  return busy || sight.mover === null ? "" : `${table.answer.names[sight.mover]} is to move`;
}

// --- playing out --------------------------------------------------------------------------------

function write(turn) {
  const added = lines(turn, table.answer).map((line) => ({ ...line, n: numbered++ }));
  table.log = [...table.log, ...added].slice(-80);
}

const gainsOf = (calls) => calls.reduce((gains, call) => {
  const side = sight.side_of[call.seat];
  return { ...gains, [side]: (gains[side] ?? 0) + call.points };
}, {});

// Pegs points in the position shown, before the server's view of the next deal replaces it.
function peg(seat, points) {
  const side = table.answer.family === "table_top" ? seat % 2 : sight.side_of[seat];
  if (!points || /ship/i.test(table.answer.game.title)) return;
  const scores = [...sight.scores], rear = [...(sight.rear ?? scores)];
  [rear[side], scores[side]] = [scores[side], Math.min(sight.target, scores[side] + points)];
  sight = { ...sight, scores, rear };
  table.gains = { [side]: points };
}

// Shows the turns taken one by one, then the table as it is.
async function play(found) {
  const shown = table;
  [shown.answer, shown.to_choose, shown.chosen, shown.advised, shown.win] = [{ ...shown.answer, ...found }, 0, [], [], null];
  busy = true;
  for (const [i, frame] of found.frames.entries()) {
    if (i > 0 || frame.seat !== found.sight.seat) await wait(1);
    if (table !== shown) return;
    const before = sight;
    table.gains = gainsOf(frame.calls);
    sight = frame.counted.length ? family().played(sight, frame) : frame.sight;
    if (frame.counted.length && sight !== frame.sight) for (const call of frame.calls) peg(call.seat, call.points);
    write({ calls: frame.calls });
    page.aloud = frame.calls.map((call) => `${found.names[call.seat]}: ${call.text}`).join(". ");
    sound(settings.sound, Math.max(0, ...frame.calls.map((call) => call.points)));
    draw();
    if (frame.counted.length) {
      await wait(1.5);
      await show(frame, before);
      if (table !== shown) return;
    }
  }
  [sight, busy, table.to_choose, table.gains] = [found.sight, false, found.to_choose, found.frames.at(-1)?.counted.length ? {} : table.gains];
  table.shownTurns = found.turns; // the turns shown so far, for tests
  store.note({ ...table.answer, sight, muggins: table.muggins });
  draw();
  if (table.behind) catchUp();
  if (sight.over) return finish();
  if (table.to_choose && settings.winbar && judges()) winBar();
}

// Records the points that the person's count missed; returns a message. The score counts in full.
function muggins(missed) {
  const { answer } = table, n = answer.names.length, mine = sight.side_of[sight.seat];
  const others = answer.names.map((_, i) => (sight.seat + 1 + i) % n);
  const by = answer.names[others.find((seat) => sight.side_of[seat] !== mine)];
  const { counts, right, claimed } = table.muggins;
  table.muggins = { counts: counts + 1, right: right + (missed === 0), claimed: claimed + Math.max(0, missed) };
  if (missed > 0) table.log = [...table.log, { who: by, text: `muggins for ${missed}`, n: numbered++ }];
  return missed > 0 ? `${by} claims ${missed} by muggins.` : missed < 0 ? `You counted ${-missed} too many.` : "Right.";
}

// Shows the counts one by one and resolves when the person goes on.
async function show(frame) {
  let skipped = false, goOn, claimed;
  const gone = new Promise((resolve) => { goOn = resolve; });
  table.goOn = () => {
    skipped = true;
    claimed?.(null);
    if (!table.show.over) return;
    table.show = null;
    paint();
    goOn();
  };
  const pause = (steps) => (skipped ? null : wait(steps));
  const isLayout = frame.counted.length > 6, shown = table;
  for (const [i, one] of frame.counted.entries()) {
    const own = isLayout ? sight.side_of[one.seat] === sight.side_of[sight.seat] : one.seat === sight.seat;
    table.show = { frame, done: i, one, part: -1, asked: false };
    if (settings.muggins && own && !skipped) {
      table.show.asked = true;
      const claim = new Promise((resolve) => { claimed = resolve; });
      table.claim = claimed;
      paint();
      const said = await claim;
      table.show.missed = said === null ? "" : muggins(one.points - said);
      table.show.asked = false;
    }
    for (let part = 0; part < one.parts.length && !isLayout; part++) {
      table.show.part = part;
      if (!skipped) draw();
      await pause(1.2);
    }
    table.show.part = one.parts.length - 1;
    peg(one.seat, one.points);
    write({ calls: [], counted: [one] });
    page.aloud = `${table.answer.owners[one.seat]}, ${one.name}: ${one.call}`;
    sound(settings.sound && !skipped, one.points);
    if (table !== shown) return;
    if (!skipped) draw();
    await pause(isLayout ? 1 : 1.5);
  }
  table.show = { ...table.show, done: frame.counted.length, over: true, one: null };
  draw();
  document.getElementById("go-on").focus();
  await gone;
  if (table === shown) table.gains = {};
}

// --- what the person does -----------------------------------------------------------------------

async function act(actions) {
  if (busy || !table.to_choose) return;
  const { revision, turns } = table.answer, coach = settings.coach && judges();
  await ask(() => talk.act(table.answer.table, { revision, actions, since: turns, coach }), async (found) => {
    table.advice = coach && found.coach ? { kind: "coach", decision: found.coach } : null;
    await play(found);
  });
}

// Asks the server; a table that has changed meanwhile is loaded again.
async function ask(question, then) {
  if (busy) return;
  busy = true;
  page.problem = "";
  let found;
  try {
    found = await question();
  } catch (error) {
    busy = false;
    if (error.status === 409 && table) await sit(await talk.look(table.answer.table));
    return complain(error);
  }
  busy = false;
  await then(found);
}

// Asks for advice; the cards stay usable meanwhile, and late advice about another turn is dropped.
async function advise(kind) {
  if (!table.to_choose || table.asking) return;
  const asked = table;
  const say = (text) => { if (table === asked) { table.asking = text; paint(); } };
  const late = setTimeout(async () => {
    const { seconds } = await talk.prepared({ game: asked.answer.game.name, advice: 1 }).catch(() => ({ seconds: 0 }));
    if (asked.asking) say(seconds ? `Preparing, about ${seconds} s` : "Thinking…");
  }, 400);
  say("Hint…");
  try {
    const { revision, choices } = await talk.advice(asked.answer.table);
    if (table === asked && revision === table.answer.revision && table.to_choose) {
      if (kind === "win") table.win = choices[0].win;
      else Object.assign(table, { advised: choices[0].actions, advice: { kind, choices }, win: choices[0].win });
    }
  } catch (error) {
    if (table === asked && error.status !== 409) complain(error);
  }
  clearTimeout(late);
  say(null);
}
const winBar = () => advise("win");

const undo = () => ask(() => talk.undo(table.answer.table, table.answer.revision), async (found) => {
  await sit(found);
  write({ calls: [{ seat: sight.seat, cards: [], text: "took a turn back", points: 0 }] });
  paint();
});

function resign() {
  if (window.confirm("Give this game up?")) ask(() => talk.resign(table.answer.table, table.answer.revision), sit);
}

// Deals again: between people, at one table for all who sat here.
async function again() {
  const { answer } = table;
  if (answer.people.length > 1) return ask(() => talk.again(answer.table), sit);
  return deal(offered(page));
}

function deal(offer) {
  store.keep(offer);
  return ask(() => talk.open(offer), sit);
}

function resume(id) {
  return ask(() => talk.look(id).catch((error) => {
    if ([403, 404].includes(error.status)) store.forget(id);
    throw error;
  }), sit);
}

function complain(error) {
  if (!(error instanceof talk.Refused)) throw error;
  say(error.message);
}

function say(text) {
  page.problem = text;
  paint();
  setTimeout(() => { page.problem = ""; paint(); }, 6000);
}

function choose(more) {
  Object.assign(settings, more);
  store.keep({ settings });
  paint();
  if (more.winbar && table.to_choose) winBar();
}

// --- a table ------------------------------------------------------------------------------------

// Shows a table that was not on the page before, or that is loaded again.
async function sit(found) {
  table?.unlisten?.();
  table = { answer: found, chosen: [], advised: [], gains: {}, to_choose: 0, log: [], advice: null, show: null, review: null,
    next: null, present: null, behind: false, win: null, asking: null, muggins: store.muggins(found.table), act, choose: (chosen) => { table.chosen = chosen; paint(); },
    silent: () => { table.advice = null; paint(); }, closeEnd: () => { table.review = null; paint(); } };
  history.replaceState(null, "", `#${found.table}`);
  sight = found.sight;
  if (found.cut) table.log = [{ who: "The cut", text: "the lowest deals", n: numbered++ },
    ...found.cut.map((card, seat) => ({ who: found.names[seat], cards: [card], text: "", n: numbered++ }))];
  if (found.turns <= found.frames.length + found.log.length) write({ calls: found.opening });
  for (const turn of found.log) write(turn);
  if (found.people.length > 1) table.unlisten = talk.listen(found.table, heard(table));
  await play(found);
}

// Handles the events of a table between people: it has changed, or other people are present.
const heard = (mine) => ({ present }) => {
  if (table !== mine) return;
  [table.present, table.behind] = [present, true];
  if (!busy) catchUp();
};

// Loads the changes; later ones, and those during the play of a turn, are loaded after it.
async function catchUp() {
  const mine = table, { turns, revision } = mine.answer;
  mine.behind = false;
  const found = await talk.look(mine.answer.table, turns).catch(() => null);
  if (!found || table !== mine) return;
  if (busy) {
    mine.behind = true;
    return;
  }
  if (mine.answer.revision !== revision) return catchUp(); // the answer is older than the last turn
  table.next = found.next;
  if (found.revision !== table.answer.revision) return play(found);
  table.answer = { ...table.answer, names: found.names, owners: found.owners, sides: found.sides, invitations: found.invitations };
  paint();
}

async function finish() {
  const { answer } = table, mine = table;
  table.review = `${answer.judge} is judging your decisions…`;
  paint();
  try {
    const review = await talk.review(answer.table);
    store.record(answer.table, review);
    if (mine.review) mine.review = review;
  } catch (error) {
    if (mine.review) mine.review = `There is no review: ${error.message}`;
  }
  paint();
}

// --- the lobby ----------------------------------------------------------------------------------

function setOffer(offer) {
  const renamed = offer.name !== page.offer.name; // what is prepared does not depend on a name
  page.offer = offer;
  paint();
  if (!renamed) prepare();
}

// Shows at the button how long it takes until the chosen game can be dealt.
let asked = 0;
async function prepare() {
  const mine = ++asked;
  while (mine === asked && !table) {
    const { game, opponent, partner } = offered(page);
    const query = [["game", game], ...[opponent, partner].filter((name) => name && name !== "person").map((name) => ["agent", name])];
    const { seconds } = await talk.prepared(query).catch(() => ({ seconds: 0 }));
    if (mine !== asked) return;
    page.seconds = seconds;
    paint();
    if (!seconds) return;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

async function rules() {
  page.rulesText ??= await talk.rules();
  page.rulesOpen = true;
  paint();
}

function closeRules() {
  page.rulesOpen = false;
  paint();
}

async function start() {
  const { settings: kept, ...chosen } = store.choices();
  page.offers = await talk.offers();
  Object.assign(settings, { speed: page.offers.speed, coach: page.offers.coach, muggins: page.offers.muggins }, kept);
  page.offer = { game: page.offers.game, opponent: page.offers.opponent, ...chosen };
  const [id, invitation] = location.hash.slice(1).split(".");
  if (id) {
    try {
      return await sit(await (invitation ? talk.sit(id, invitation, page.offer.name ?? "") : talk.look(id)));
    } catch (error) {
      complain(error);
    }
  }
  paint();
  prepare();
}

const KEYS = { h: "hint", b: "best", u: "undo", c: "coach" };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !table) return;
  if (event.target.matches("select, input") || document.querySelector("dialog[open]")) return;
  if (event.key === "Enter" && event.target === document.body) document.querySelector('[data-key="discard"], #go-on')?.click();
  else if (KEYS[event.key]) document.getElementById(KEYS[event.key]).click();
  else if (!busy && family().key(event.key, document.getElementById("felt"))) event.preventDefault();
});
window.addEventListener("hashchange", () => location.reload()); // an invitation opened in this window
narrow.addEventListener("change", paint);
dark.addEventListener("change", paint);
start().catch(complain);
