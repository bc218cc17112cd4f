// Movement and sound: a card that is drawn at another place slides there from where it lay.

const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const MILLISECONDS = 260;

const boxes = (root) => new Map([...root.querySelectorAll("[data-card]")].map((one) => [one.dataset.card, one.getBoundingClientRect()]));

// Calls `draw`; then every card slides from where it was, or from the origin in its `data-from`.
export function moving(draw, root, milliseconds = MILLISECONDS) {
  if (still.matches || !milliseconds) return draw();
  const before = boxes(root());
  const origin = new Map([...root().querySelectorAll("[data-origin]")].map((one) => [one.dataset.origin, one.getBoundingClientRect()]));
  draw();
  for (const card of root().querySelectorAll("[data-card]")) {
    const from = before.get(card.dataset.card) ?? origin.get(card.dataset.from);
    const to = card.getBoundingClientRect();
    if (!from || !from.width || !to.width || Math.hypot(from.x - to.x, from.y - to.y) < 3) continue;
    card.animate([
      { transform: `translate(${from.x - to.x}px, ${from.y - to.y}px) scale(${from.width / to.width})`, transformOrigin: "0 0", zIndex: 5 },
      { transform: "none", transformOrigin: "0 0", zIndex: 5 },
    ], { duration: milliseconds, easing: "cubic-bezier(.2, .7, .3, 1)" });
  }
}

let audio = null;

// A short tick: lower for a card, higher for points.
export function sound(on, points) {
  if (!on || !navigator.userActivation?.hasBeenActive) return;
  audio ??= new AudioContext();
  const now = audio.currentTime, tone = audio.createOscillator(), volume = audio.createGain();
  tone.frequency.setValueAtTime(points ? 660 + 20 * Math.min(points, 12) : 220, now);
  volume.gain.setValueAtTime(0.05, now);
  volume.gain.exponentialRampToValueAtTime(0.0001, now + (points ? 0.18 : 0.07));
  tone.connect(volume).connect(audio.destination);
  tone.start(now);
  tone.stop(now + 0.2);
}
