// The cribbage board: a track a side, two pegs that leap-frog (H12); on a phone in rows of thirty.

const SVG = "http://www.w3.org/2000/svg";
const STEP = 12, FIVE = 5, LEFT = 34, TOP = 13, BETWEEN = 6;
const TRACKS = { 2: 15, 3: 13, 4: 12 }; // from one side's track to the next, by how many there are
const narrow = window.matchMedia("(max-width: 52rem)");

function shape(tag, fields) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(fields)) element.setAttribute(name, value);
  return element;
}

// Where a hole lies: rows run to and fro, each side's below the other's.
function place(hole, side, row, sides, rear) {
  const track = TRACKS[sides];
  if (hole === 0) return [rear ? 10 : 22, TOP + side * track];
  const n = hole - 1, line = Math.floor(n / row), at = n % row;
  const along = line % 2 ? row - 1 - at : at;
  return [LEFT + along * STEP + Math.floor(along / 5) * FIVE, TOP + side * track + line * (sides * track + BETWEEN)];
}

// `names` are the sides'.
export function drawBoard(sight, names) {
  const row = narrow.matches ? 30 : 60;
  const { scores, rear, target } = sight;
  const lines = Math.ceil((target - 1) / row);
  const width = LEFT + row * STEP + (row / 5) * FIVE + 14;
  const sides = scores.length;
  const height = lines * (sides * TRACKS[sides] + BETWEEN) + TOP - 3;
  const said = names.map((name, side) => `${name} ${scores[side]}, rear peg ${rear[side]}`).join("; ");
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `${said}; ${target} wins` });
  svg.append(shape("rect", { class: "plank", width, height, rx: 10 }));
  const end = (side) => {
    const [x, y] = place(target - 1, side, row, sides);
    const back = Math.floor((target - 2) / row) % 2;
    return [x + (back ? -STEP - 3 : STEP + 3), y];
  };
  for (let side = 0; side < sides; side++) {
    for (let hole = 1; hole < target; hole++) {
      const [cx, cy] = place(hole, side, row, sides);
      svg.append(shape("circle", { class: "hole", cx, cy, r: hole % 5 ? 2.2 : 3 }));
    }
    const [cx, cy] = end(side);
    svg.append(shape("circle", { class: "hole", cx, cy, r: 4.5 }));
    for (const [hole, kind] of [[rear[side], " rear"], [scores[side], ""]]) {
      const [x, y] = hole >= target ? end(side) : place(hole, side, row, sides, kind !== "");
      svg.append(shape("circle", { class: `peg side${side}${kind}`, cx: x, cy: y, r: 5.6 }));
    }
  }
  return svg;
}
