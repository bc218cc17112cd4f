// Making elements, and cards among them.

const RANKS = ["ace", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king"];
const SUITS = ["clubs", "diamonds", "hearts", "spades"];

export function make(tag, { on = {}, data = {}, ...fields } = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  Object.assign(element.dataset, data);
  for (const [event, heard] of Object.entries(on)) element.addEventListener(event, heard);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const cardText = (card) => "A23456789TJQK"[card >> 2] + "CDHS"[card & 3];
export const cardName = (card) => `${RANKS[card >> 2]} of ${SUITS[card & 3]}`;

function picture(card, alt) {
  const name = card === null ? "back" : cardText(card);
  return make("img", { src: `/cards/${name}.svg`, alt, draggable: "false" });
}

// A card that lies there; null is one face down.
export function lying(card, { tag = "div", class: more = "", alt } = {}) {
  const said = alt ?? (card === null ? "a card face down" : cardName(card));
  return make(tag, { class: `card ${more}`, data: card === null ? {} : { card } }, picture(card, said));
}

// A card that may be chosen.
export function choosable(card, { closed, pressed, advised, label, on, key }) {
  const more = `card${closed ? " closed" : ""}${advised ? " advised" : ""}`;
  return make("button", {
    type: "button", class: more, disabled: closed, "aria-label": label ?? cardName(card),
    "aria-pressed": pressed === undefined ? undefined : String(pressed), on, data: { card, key },
  }, picture(card, ""));
}

export const lyingCards = (cards, more = "") =>
  make("div", { class: `cards ${more}` }, cards.map((card) => lying(card)));

// A player's name, part and score; `gain` is what was just pegged.
export function player(name, { side, score, turn, marks = [], gain }) {
  return make("div", { class: `player side${side}${turn ? " turn" : ""}` },
    make("span", { class: "name" }, name),
    ...marks.map((mark) => make("span", { class: "mark" }, mark)),
    score === undefined ? null : make("span", { class: "score", data: { score: side } }, String(score)),
    make("span", { class: "gain" }, gain ? `+${gain}` : ""));
}
