"""Letters of other scripts that look like Latin ones: plain data, one table."""

from __future__ import annotations

# Latin letters, then what passes for each, in the same order. Letters that NFKC folds by itself are not listed.
_ALIKE = """
a аɑαᴀ⍺Ꭺɐᗩ
b ЬвʙβᏏᖯВΒ
c сϲᴄⅽСϹⲥᏟ
d ԁɗᴅᏧԀᗪ
e еёєεᴇєЕΕҽ℮Ꭼ
f ғϝꜰƒᖴ
g ɡԍɢցԌᏀ
h һнʜНΗհᏂ
i іїıɩιɪІΙӀӏⅰᎥ
j јϳᴊЈ
k кκᴋКΚᏦ
l ⅼʟᏞ
m мᴍМΜϻ
n ппηɴΝոᑎ
o оοσᴏОΟօჿ๐०
p рρᴘРΡᏢ
q ԛզ
r гʀᴦᖇᎡ
s ѕꜱЅՏᏚ
t тτᴛТΤᎢ
u υᴜսцՍ
v ѵνᴠѴᏙ
w ԝωᴡшѡᏔԜ
x хχХΧ᙭ⅹ
y уүγʏУΥҮᎩ
z ᴢΖζᏃ
"""


def _table() -> dict[int, str]:
    table: dict[int, str] = {}
    for line in _ALIKE.split("\n"):
        latin, _, alike = line.partition(" ")
        table.update({ord(letter): latin for letter in alike})
    # Letters in squares and discs, and the regional indicators that flags are made of.
    for first in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6):
        table.update({first + index: chr(ord("a") + index) for index in range(26)})
    return table


CONFUSABLES = _table()

LEET = str.maketrans({"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s"})
"""Digits and signs that stand for letters inside a word."""
