"""A position of each phase and game, as one line of text."""

LAYING = "hoyle game #1 d1 m0 discard QSQC4STDQHAH/3HTH6D5CJD7H 7C - 0-0/0-0"
PLAYING = "hoyle game #2 d1 m0 pegging 5h(6C)7D8S(9C)kd/AC(2C)3C(4C)ts6d JC 5HTSKD6D| 30-34/58-60"
DECK = "4S7H8HAD6CKC5STD9S4C5CQH5DAHTC6DJSJCJH7D9HJD2HTHQS3S3H6S2C"
TABLE = f"table_top game #2 d0 m0 p2 turn {DECK} ...../..7H../..2C../.8H.../..... 4S 20/29"
THREE = (
    "three_hand game #1 d1 m1 pegging 4h(TH)AD2S3c/6C9D(KD)tdAS/4D5h9hAC(JD) QD 3D 9H4HTD5H3C| "
    "0-2/0-0/0-0"
)
