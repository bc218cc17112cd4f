"""Table Top as a drawing, from views of one seat or of several, and the points scored."""

from __future__ import annotations

from collections.abc import Sequence

from crib_env.arrays import View
from crib_env.engine.record import NONE
from crib_env.engine.table_top.records import CELLS, CENTRE, SIZE, TO_CRIB, TURNS
from crib_env.engine.table_top.text import SIDES, line_values
from crib_env.render.svg import document as svg
from crib_env.render.svg.board import Pegs, board
from crib_env.render.svg.cards import TALL, card

Pair = Sequence[int]

CARD = 53.0
GRID_X, GRID_Y, ACROSS, DOWN = 236.0, 34.0, 61.0, 80.0
SIDE_Y = (40.0, 228.0)
RIGHT = 610.0
IN_TURN = 74.0
CRIB = 42.0


def draw(views: Sequence[View], scene: svg.Scene) -> list[str]:
    """Return the parts of a drawing."""
    view = views[0]
    seat, players = int(view["seat"]), int(view["players"])
    dealer = (seat + int(view["dealer"])) % players
    mover = None if view["over"] else (seat + int(view["mover"])) % players
    mine = seat % 2
    scores = [int(view["scores"][0 if side == mine else 1]) for side in range(2)]
    wood, pegs = board([Pegs(points) for points in scores], int(scene.rules.target))
    parts = [
        f'<rect class="felt" width="{svg.WIDTH}" height="{svg.HEIGHT}"/>{wood}',
        svg.text(scene.heading("round"), 16, 22, 12, "muted"),
    ]
    for side in range(2):
        parts.append(_side(side, scores[side], _owed(view), scene, dealer, mover))
    parts += [
        _layout(view, scene.marked),
        _values(view, scene),
        _turn(views, scene, mover),
        _crib(views, dealer, scene.marked),
        svg.calls(svg.called(scene, SIDES), RIGHT - 18, 450, 194),
    ]
    return [*parts, pegs]


def _owed(view: View) -> list[int]:
    """Return how many crib cards each seat still owes (T6)."""
    seat, players = int(view["seat"]), int(view["players"])
    return [int(view["owed"][(p - seat) % players]) for p in range(players)]


def _side(side: int, points: int, owed: Sequence[int], scene: svg.Scene, dealer: int, mover: int | None) -> str:
    """Return a side: its lines, its score and its players."""
    y = SIDE_Y[side]
    shown = svg.score(SIDES[side], points, side, 16, y)
    for i, p in enumerate(range(side, len(owed), 2)):
        part = ", ".join([*(["dealer"] if p == dealer else []), f"owes the crib {owed[p]}" if owed[p] else ""]).strip(
            ", "
        )
        top = y + 98 + 38 * i
        shown += svg.text(svg.shortened(scene.names[p], 22), 35, top, 14, bold=p == mover)
        shown += svg.text(part, 35, top + 15, 11.5, "muted")
        if p == mover:
            shown += svg.arrow(20, top - 11)
    return shown


def _place(cell: int) -> tuple[float, float]:
    row, column = divmod(cell, SIZE)
    return GRID_X + ACROSS * column, GRID_Y + DOWN * row


def _layout(view: View, marked: frozenset[int]) -> str:
    """Return the layout; cells open to the seat are outlined and carry their number."""
    shown = ""
    for cell in range(CELLS):
        x, y = _place(cell)
        held = int(view["layout"][cell])
        if held == NONE:
            size = f'x="{x:g}" y="{y:g}" width="{CARD:g}" height="{CARD * TALL:g}" rx="5"'
            shown += f'<rect class="well" {size}/>'
            if view["legal"] >> cell & 1:
                shown += f'<rect class="open" {size} fill="none" stroke-width="1.6"/>' + svg.text(
                    str(cell), x + CARD / 2, y + CARD * TALL / 2 + 5, 14, "good", anchor="middle"
                )
        else:
            shown += card(held, x, y, CARD, open=held in marked)
    x, y = _place(CENTRE)
    return shown + (
        f'<rect class="ring" x="{x - 2:g}" y="{y - 2:g}" width="{CARD + 4:g}" '
        f'height="{CARD * TALL + 4:g}" rx="6" fill="none" stroke-width="2.5"/>'
    )


def _values(view: View, scene: svg.Scene) -> str:
    """Return the present points of each line, in the colour of its side."""
    rows, columns = line_values(view, scene.rules)
    right, below = GRID_X + ACROSS * SIZE + 8, GRID_Y + DOWN * SIZE + 15
    shown = ""
    for i in range(SIZE):
        middle = GRID_Y + DOWN * i + CARD * TALL / 2 + 6
        shown += svg.text(str(rows[i]), right, middle, 17, "side0", bold=rows[i] > 0)
        middle = GRID_X + ACROSS * i + CARD / 2
        value = str(columns[i])
        shown += svg.text(value, middle, below, 17, "side1", bold=columns[i] > 0, anchor="middle")
    return shown


def _turn(views: Sequence[View], scene: svg.Scene, mover: int | None) -> str:
    """Return whose turn it is and the card in turn, face down if no viewing seat knows it."""
    if mover is None:
        return svg.text(scene.says or _ending(views[0]), RIGHT, 60, 14, bold=True)
    view = views[0]
    known = {int(v[name]) for v in views for name in ("card", "partner_card")} - {NONE}
    shown = [
        svg.text(f"turn {int(view['turn']) + 1} of {TURNS}", RIGHT, 50, 12, "muted"),
        svg.text(svg.shortened(scene.names[mover], 20), RIGHT, 70, 14, bold=True),
        card(known.pop() if known else scene.hidden, RIGHT, 82, IN_TURN),
    ]
    if any(v["legal"] >> TO_CRIB & 1 for v in views):
        shown.append(svg.text(f"or the crib ({TO_CRIB})", RIGHT, 204, 12, "good"))
    return "".join(shown)


def _ending(view: View) -> str:
    """Return the result of the episode: a single round need not be won (T9)."""
    mine = int(view["seat"]) % 2
    ahead = int(view["scores"][0]) - int(view["scores"][1])
    if max(view["scores"]) < view["target"] or ahead == 0:
        return "the round is over"
    return f"{SIDES[mine if ahead > 0 else 1 - mine]} have won"


def _crib(views: Sequence[View], dealer: int, marked: frozenset[int]) -> str:
    """Return the crib: cards known to the viewing seats face up, the rest face down."""
    n = int(views[0]["crib_n"])
    shown = svg.text(f"crib of the {SIDES[dealer % 2]}", RIGHT, 240, 12, "muted")
    for i in range(n):
        known = [int(v["crib"][i]) for v in views if v["crib"][i] != NONE]
        held = known[0] if known else None
        shown += card(held, RIGHT + (CRIB + 3) * i, 248, CRIB, open=held in marked)
    return shown if n else shown + svg.text("empty", RIGHT, 262, 12, "muted")


def closing(views: Sequence[View], actions: Sequence[int], before: Pair, scores: Pair, *, shown: bool) -> list[View]:
    """Return the views for pictures between the last card of a round and the next round."""
    seen = [view.copy() for view in views]
    (action,) = actions
    last = next(int(view["card"]) for view in views if view["card"] != NONE)
    crib = [max(int(view["crib"][i]) for view in views) for i in range(int(views[0]["crib_n"]))]
    for view in seen:
        if action != TO_CRIB:
            view["layout"][action] = last
        elif shown or view["to_move"]:
            view["crib"][len(crib)] = last
        if shown:
            view["crib"][: len(crib)] = crib
        view["crib_n"] = len(crib) + (action == TO_CRIB)
        view["owed"] = view["legal"] = 0
        view["over"] = 1
        side = int(view["seat"]) % 2
        view["scores"] = scores[side], scores[1 - side]
    return seen
