// Dragging a card to where it may go, by mouse, pen or finger; a short press stays a click.

const FAR = 8; // pixels before a press is a drag
const SETTLED = 100; // milliseconds after a drop in which its click comes

// Makes an element draggable; calls `dropped` with the `data-drop` of the element that it falls on.
export function draggable(element, dropped) {
  if (!element || !dropped) return;
  const known = "dropped" in element;
  element.dropped = dropped; // the same element is drawn again and again
  if (known) return;
  element.addEventListener("pointerdown", (start) => {
    if (element.disabled || start.button !== 0) return;
    let ghost = null, over = null;
    const box = element.getBoundingClientRect();

    function move(event) {
      const [dx, dy] = [event.clientX - start.clientX, event.clientY - start.clientY];
      if (!ghost && Math.hypot(dx, dy) < FAR) return;
      if (!ghost) {
        ghost = element.cloneNode(true);
        ghost.classList.add("dragged");
        ghost.setAttribute("aria-hidden", "true");
        ghost.style.width = `${box.width}px`;
        ghost.style.left = `${box.left}px`;
        ghost.style.top = `${box.top}px`;
        document.body.append(ghost);
      }
      ghost.style.translate = `${dx}px ${dy}px`;
      const under = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-drop]");
      if (under !== over) {
        over?.classList.remove("target");
        under?.classList.add("target");
        over = under ?? null;
      }
    }

    function end(event) {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
      if (!ghost) return;
      ghost.remove();
      over?.classList.remove("target");
      const swallow = (click) => click.stopImmediatePropagation(); // the browser may send one after a drop
      element.addEventListener("click", swallow, true);
      setTimeout(() => element.removeEventListener("click", swallow, true), SETTLED);
      setTimeout(() => { if (event.type === "pointerup" && over) element.dropped(over.dataset.drop); });
    }

    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
  });
}
