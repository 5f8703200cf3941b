"""Text of unknown origin made fit to be shown: whatever would not be seen, or would act, becomes a visible escape."""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200c\u200d"
"""Zero-width characters that several scripts, and emoji, are spelt with."""

_PRESENTATION = "\ufe0e\ufe0f"
"""The variation selectors of emoji; harmless one at a time."""

# Unicode's Default_Ignorable_Code_Point, blanks that are letters or symbols by category, and non-characters: none is seen.
_UNSEEN = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2065, 0x2065),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFDD0, 0xFDEF),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1D159, 0x1D159),
    (0xE0000, 0xE0FFF),
)
_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str, *, keep: str = "", joiners: bool = False) -> str:
    r"""Returns `text` with control, bidirectional, zero-width, private and other unseen characters as escapes like \u202e.

    Characters in `keep` stay as they are. With `joiners`, so do the zero-width joiner and non-joiner, for people who read
    scripts that are spelt with them. The result has no terminal escape, no line break that is not kept, and no text that
    reads in another order than it is written.
    """
    if text.isascii() and text.isprintable():
        return text
    kept = keep + _JOINERS if joiners else keep
    shown: list[str] = []
    before = ""
    for character in text:
        if character in kept or not _hides(character, before):
            shown.append(character)
        else:
            shown.append(_escape(character))
        before = character
    return "".join(shown)


def _hides(character: str, before: str) -> bool:
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return False
    if character in _PRESENTATION:
        # One after a visible character picks its look; a run of them can carry hidden data.
        return not before or before.isspace() or _hides(before, "") or before in _PRESENTATION
    if unicodedata.category(character) in _CATEGORIES or code & 0xFFFE == 0xFFFE:
        return True
    return any(first <= code <= last for first, last in _UNSEEN)


def _escape(character: str) -> str:
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
