"""Drawing a game as SVG: cards, the cribbage board, words, put together to one document.

Everything here is a function from numbers to text. A family's `picture` module says where things
lie; it takes views, so a drawing shows what their seats may know and no more.

- `document`: parts to a whole SVG, with the symbols it uses and its colours.
- `cards`: faces and backs; `outlines` and `courts` are what they are made of.
- `board`: the cribbage board with its pegs (H12).
- `words`: text, escaped; a player's name and score; what is called.
- `style`: the colours of both themes.
- `scene`: what a picture shows besides views.
"""
