"use strict";
const data = JSON.parse(document.getElementById("replay").textContent);
const at = (id) => document.getElementById(id);
const setting = (key, value) => {
  try {
    if (value !== undefined) localStorage.setItem("crib." + key, value);
    return localStorage.getItem("crib." + key);
  } catch { return null; }  // a browser may keep nothing for files
};
const made = (name, words, kind) => {
  const element = document.createElement(name);
  element.textContent = words;
  if (kind) element.className = kind;
  return element;
};
const unbroken = (words) => words.replace(/ (?=\d)/g, "\u00a0");  // "row 4" stays on one line
const FASTEST = 1, SLOWEST = 3, BEAT = 700;
const COSTLY = data.inPoints ? 0.05 : 0.001;
const end = data.frames.length - 1;
let now = 0, timer = null;

const amount = (value) => data.inPoints ? value.toFixed(2) : (100 * value).toFixed(1) + " %";
const turnAt = (i) => data.frames[i].turn === null ? null : data.turns[data.frames[i].turn];
const sees = (turn) => data.eyes[at("eyes").value].seats.includes(turn.seat);
const frameOf = new Map(data.frames.map((frame, i) => [frame.turn, i]));

function show(i) {
  now = Math.max(0, Math.min(end, i));
  const frame = data.frames[now];
  const drawing = frame.d[at("eyes").value].map((part) => data.parts[part]).join("");
  at("picture").innerHTML = drawing;
  const said = frame.calls.map((call) => call[1]).join(". ");
  at("picture").setAttribute("aria-label", "The table, " +
    data.sides.map((side, k) => side + " " + frame.scores[k]).join(", ") + ". " + said);
  at("aloud").textContent = said;
  at("scores").replaceChildren(...data.sides.map((side, k) => {
    const shown = made("span", "");
    const points = frame.match_score ? ` (${frame.match_score[k]} game point${frame.match_score[k] === 1 ? "" : "s"})` : "";
    shown.append(made("span", "", "dot side" + k), side + " ", made("b", frame.scores[k]), points);
    return shown;
  }));
  at("moment").value = now;
  at("moment").setAttribute("aria-valuetext", "moment " + (now + 1) + " of " + (end + 1));
  for (const id of ["first", "back"]) at(id).disabled = now === 0;
  for (const id of ["next", "last"]) at(id).disabled = now === end;
  for (const item of at("log").children) item.classList.toggle("now", Number(item.dataset.at) === now);
  const heard = at("log").querySelector(".now");
  if (heard) at("log").scrollTop = heard.offsetTop - at("log").offsetTop - 80;
  think();
  mark();
  if (now === end) stop();
}

function think() {
  const turn = turnAt(now), rows = at("options").tBodies[0];
  rows.replaceChildren();
  at("verdict").textContent = "";
  at("options").hidden = true;
  if (turn === null) {
    at("decision").textContent = now < end ? "Counting" :
      data.winner === null ? "The end" : data.sides[data.winner] + " won";
    return;
  }
  const name = data.names[turn.seat];
  if (!sees(turn) || turn.did === undefined) {
    at("decision").textContent = name + " chooses, unseen";
    return;
  }
  at("decision").textContent = name + ": " + turn.did;
  if (!turn.options) return;
  const best = turn.options[0][2];
  if (turn.loss < COSTLY / 10) {
    at("verdict").append(made("span", turn.options.length > 1 ? "as " + data.judge + " would" : "the only choice", "good"));
  } else {
    at("verdict").append(made("span", "that cost " + amount(turn.loss) + (data.inPoints ? " points" : ""), "cost"),
      "; " + data.judge + " would " + turn.options[0][0]);
  }
  const likely = turn.options.some((option) => option[3] !== null);
  const valued = turn.options.some((option) => option[4] !== null);
  at("likely").hidden = !likely;
  at("valued").hidden = !valued;
  turn.options.forEach(([label, why, score, probability, value], k) => {
    const row = rows.insertRow();
    row.classList.toggle("taken", k === turn.taken);
    const choice = row.insertCell();
    choice.append(unbroken(label), made("small", why));
    row.insertCell().textContent = amount(score);
    row.insertCell().textContent = best - score ? "−" + amount(best - score) : "";
    if (likely) row.insertCell().textContent = (100 * (probability ?? 0)).toFixed(0) + " %";
    if (valued) row.insertCell().textContent = value === null ? "" : value.toFixed(2).replace("-", "−");
  });
  at("options").hidden = false;
}

// Side 0's probability of winning, by the judge with the knowledge of the seat to move; null if the
// turn has none, or if another of more than two sides moves.
const chanceOfFirst = (turn) => turn.chance == null ? null : data.sideOf[turn.seat] === 0 ? turn.chance :
  data.sides.length === 2 ? 1 - turn.chance : null;
const course = [];
data.frames.forEach((frame, i) => {
  const turn = turnAt(i);
  if (turn && chanceOfFirst(turn) !== null) course.push([i, chanceOfFirst(turn)]);
  else if (i === end && data.winner !== null) course.push([i, data.winner === 0 ? 1 : 0]);
});
const LEFT = 38, WIDE = 552, TOP = 12, TALL = 156;
const across = (i) => LEFT + WIDE * i / Math.max(1, end), down = (p) => TOP + TALL * (1 - p);

function graph() {
  at("course").hidden = course.length < 3;
  const line = course.map(([i, p]) => across(i).toFixed(1) + " " + down(p).toFixed(1)).join("L");
  const parts = [0, 0.5, 1].map((p) => `<path class="axis" d="M${LEFT} ${down(p)}H${LEFT + WIDE}"/>` +
    `<text x="${LEFT - 6}" y="${down(p) + 4}" text-anchor="end">${100 * p}</text>`);
  if (course.length) {
    const base = `L${across(course.at(-1)[0]).toFixed(1)} ${down(0)}L${across(course[0][0]).toFixed(1)} ${down(0)}Z`;
    parts.push(`<path class="fill" d="M${line}${base}"/><path class="course" d="M${line}"/>`);
  }
  data.turns.forEach((turn, k) => {
    const p = chanceOfFirst(turn);
    if (turn.loss >= 0.02 && !data.inPoints && frameOf.has(k) && p !== null) {
      parts.push(`<circle class="slip" cx="${across(frameOf.get(k)).toFixed(1)}" cy="${down(p).toFixed(1)}" r="3.5"/>`);
    }
  });
  at("graph").innerHTML = parts.join("") + `<path class="now" id="here"/>`;
  at("legend").append("of ", made("span", data.sides[0], "good"), " in %, as " + data.judge + " sees it with what the " +
    "seat to move knows; dots are choices that cost 2\u00a0% or more");
}

function mark() {
  at("here").setAttribute("d", `M${across(now).toFixed(1)} ${TOP}V${TOP + TALL}`);
}

function losses() {
  const judged = data.turns.map((turn, k) => ({...turn, k})).filter((turn) => turn.options && turn.options.length > 1);
  at("costs").hidden = judged.length === 0;
  data.names.forEach((name, seat) => {
    const own = judged.filter((turn) => turn.seat === seat);
    if (!own.length) return;
    const mean = own.reduce((sum, turn) => sum + turn.loss, 0) / own.length;
    at("losses").append(made("h3", `${name}: ${data.inPoints ? mean.toFixed(3) : (100 * mean).toFixed(2) + " %"} a decision, over ${own.length}`));
    own.filter((turn) => turn.loss >= COSTLY).sort((a, b) => b.loss - a.loss).slice(0, 3).forEach((turn) => {
      const button = made("button", `${unbroken(turn.did)}: cost ${amount(turn.loss)}`);
      button.onclick = () => show(frameOf.get(turn.k));
      at("losses").append(button);
    });
  });
}

function stop() {
  clearTimeout(timer);
  timer = null;
  at("play").textContent = "Play";
  at("play").setAttribute("aria-pressed", "false");
}

function tick() {
  timer = setTimeout(() => { tick(); show(now + 1); }, BEAT * Number(at("speed").value));
}

function play() {
  if (timer !== null) return stop();
  if (now === end) show(0);
  at("play").textContent = "Pause";
  at("play").setAttribute("aria-pressed", "true");
  tick();
}

function mistake() {
  for (let i = now + 1; i <= end; i++) {
    const turn = turnAt(i);
    if (turn && turn.loss >= COSTLY && sees(turn)) return show(i);
  }
}

at("players").textContent = data.names.join(", ");
at("players").hidden = data.names.length === data.sides.length && data.names.every((name, k) => name === data.sides[k]);
for (let speed = FASTEST; speed <= SLOWEST; speed++) {
  const note = speed === FASTEST ? " (fastest)" : "";
  at("speed").append(new Option(speed + note, speed));
}
data.eyes.forEach((eyes, k) => at("eyes").append(new Option(eyes.label, k)));
at("speed").value = Math.min(SLOWEST, Math.max(FASTEST, Number(setting("speed")) || 2));
at("eyes").value = data.eyes.length - 1 ? Math.max(0, data.eyes.length - 2) : 0;
at("theme").value = ["light", "dark"].includes(setting("theme")) ? setting("theme") : "";
const recolour = () => { document.documentElement.dataset.theme = at("theme").value; };
recolour();
at("speed").onchange = () => setting("speed", at("speed").value);
at("theme").onchange = () => { setting("theme", at("theme").value); recolour(); };
at("eyes").onchange = () => show(now);
at("moment").max = end;
at("moment").oninput = () => show(Number(at("moment").value));
at("first").onclick = () => show(0);
at("back").onclick = () => show(now - 1);
at("next").onclick = () => show(now + 1);
at("last").onclick = () => show(end);
at("play").onclick = play;
at("worse").onclick = mistake;
at("worse").hidden = !data.turns.some((turn) => turn.loss >= COSTLY);
at("thoughts").hidden = data.turns.length === 0;
at("unit").textContent = data.inPoints ? "points" : "wins";
at("graph").onclick = (event) => {
  const box = at("graph").getBoundingClientRect();
  show(Math.round((((event.clientX - box.left) / box.width) * 600 - LEFT) / WIDE * end));
};
document.onkeydown = (event) => {
  const where = event.target.tagName;
  if (["INPUT", "SELECT"].includes(where) || (where === "BUTTON" && event.key === " ")) return;
  const keys = {ArrowLeft: () => show(now - 1), ArrowRight: () => show(now + 1), Home: () => show(0),
    End: () => show(end), " ": play, m: mistake};
  if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    keys[event.key]();
  }
};
data.frames.forEach((frame, i) => frame.calls.forEach(([side, words]) => {
  const item = made("li", "");
  item.dataset.at = i;
  item.append(made("span", "", "dot side" + side), words);
  item.onclick = () => show(i);
  at("log").append(item);
}));
graph();
losses();
const named = /^#turn=(\d+)$/.exec(location.hash);  // a review's lines open their positions
show(named ? frameOf.get(Number(named[1])) ?? 0 : 0);
