"""Drawing a game as SVG: cards, the cribbage board, the table, put together to one document.

Everything here is a function from numbers to text. A family's `picture` module says where things
lie; it takes views, so a drawing shows what their seats may know and no more.
"""
