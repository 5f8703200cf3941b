"""A text as the rules look at it: folded so that its disguises fall off."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from tributary.models.screens.confusables import CONFUSABLES, LEET

_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000e-\u001b\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_SPACE = re.compile(r"\s+")
_DRESSING = re.compile(r"[*_~`\"'“”‘’„«»()\[\]{}|^\\+]+|(?<![\w/:.])/(?!\w)|(?<=\w)/\*.{0,20}?\*/")
_SPACED = re.compile(r"(?<![^\W_])(?:[^\W\d_][ .\-·•]{1,2}){3,}[^\W\d_](?![^\W_])")
_SPACED_JOINERS = re.compile(r"[.\-·•]+| (?! )")
_LEET_WORD = re.compile(
    r"(?<![\w@$])(?=[a-z0134579@$]{0,24}[a-z])(?=[a-z0134579@$]{0,24}[0134579@$])[a-z0134579@$]{3,24}(?![\w@$])"
)
_CONTRACTIONS = (("’", "'"), ("n't ", " not "), ("'re ", " are "), ("'ll ", " will "), ("'ve ", " have "))
_BETWEEN_CJK = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])\s+(?=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")


@dataclass(frozen=True, kw_only=True, slots=True)
class Views:
    """One layer of a text, case-folded, in four foldings.

    `marked` has look-alikes mapped to Latin and accents taken off, and keeps all punctuation; `words` also loses quotes,
    brackets and emphasis; `lines` is `marked` with its line breaks; `native` keeps its script and loses accents only.
    """

    marked: str
    words: str
    lines: str
    native: str


def views_of(text: str) -> Views:
    """Returns the foldings of `text`."""
    folded = _unaccented(_INVISIBLE.sub("", text))
    latin = _latin(folded)
    marked = _SPACE.sub(" ", latin)
    for short, long in _CONTRACTIONS:
        latin = latin.replace(short, long)
    words = _without_leet(_together(_SPACE.sub(" ", _DRESSING.sub(" ", _together(latin)))))
    lines = "\n".join(_SPACE.sub(" ", line) for line in latin.splitlines())
    native = marked if folded.isascii() else _BETWEEN_CJK.sub("", _SPACE.sub(" ", folded.casefold()))
    return Views(marked=marked, words=words, lines=lines, native=native)


def undisguised(text: str) -> str:
    """Returns `text` in small letters, with look-alikes as the Latin letters that they pass for, and nothing that nobody sees."""
    return _latin(_unaccented(_INVISIBLE.sub("", text)))


def _latin(folded: str) -> str:
    return folded.translate(CONFUSABLES).casefold()


def _unaccented(text: str) -> str:
    """Returns `text` in compatibility form (full-width and styled letters as plain ones) without accents."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c) or _voiced(c)))


def _voiced(mark: str) -> bool:
    """Tells the marks that make another kana, which are no accents."""
    return mark in "\u3099\u309a"


def _together(text: str) -> str:
    """Joins letters that were spaced out: 'i g n o r e  a l l' becomes 'ignore all'."""
    return _SPACED.sub(lambda match: _SPACED_JOINERS.sub("", match.group()).replace("  ", " "), text)


def _without_leet(text: str) -> str:
    return _LEET_WORD.sub(lambda match: match.group().translate(LEET), text)
