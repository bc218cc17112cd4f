// Where one chooses a game and sits down.

import { make } from "./elements.js";

const byId = (id) => document.getElementById(id);
const CHOICES = "crib-offer";

export function lastChoices() {
  try {
    return JSON.parse(localStorage.getItem(CHOICES)) ?? {};
  } catch {
    return {};
  }
}

export function keep(choices) {
  localStorage.setItem(CHOICES, JSON.stringify({ ...lastChoices(), ...choices }));
}

// Shows the offers and calls `chosen` with what is wanted.
export function lay(offers, chosen) {
  const last = { game: offers.game, opponent: offers.opponent, seat: 0, ...lastChoices() };
  byId("games").replaceChildren(...offers.games.map((game) => make("label", { class: "game" },
    make("input", { type: "radio", name: "game", value: game.name, checked: game.name === last.game }),
    make("b", {}, game.title), make("span", {}, game.about))));
  const named = (name) => make("option", { value: name }, name === "person" ? "a person, by invitation" : name);
  byId("seat").value = String(last.seat);

  const form = byId("offer");
  const wanted = () => offers.games.find((game) => game.name === new FormData(form).get("game"));
  function choose(id, agents, preferred) {
    byId(id).replaceChildren(...agents.map(named));
    byId(id).value = preferred.find((name) => agents.includes(name)) ?? agents[0];
  }
  function fit() {
    const { agents } = wanted(); // those who play this game
    choose("opponent", agents, [byId("opponent").value || last.opponent, last.opponent, offers.opponent]);
    choose("partner", agents, [byId("partner").value || last.partner, last.partner, byId("opponent").value]);
    byId("with").hidden = !wanted().has_partners;
    byId("side").hidden = !wanted().sides;
  }
  form.onchange = fit;
  fit();
  form.onsubmit = (event) => {
    event.preventDefault();
    const game = wanted();
    const offer = { game: game.name, opponent: byId("opponent").value };
    if (game.has_partners) offer.partner = byId("partner").value;
    if (game.sides) offer.seat = Number(byId("seat").value);
    keep(offer);
    chosen(offer);
  };
  byId("lobby").hidden = false;
}
