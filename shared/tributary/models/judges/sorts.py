"""The sorts of token, and how identifiers are told apart by their form."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum

from tributary.models.judges import lexicon
from tributary.models.judges.quantities import Quantity
from tributary.models.judges.words import concept_of, stem

_REGION = re.compile(
    r"(?:us|eu|ap|sa|ca|me|af|il|mx|cn)-(?:gov-)?(?:north|south|east|west|central)(?:north|south|east|west)?-\d[a-f]?"
    r"|(?:us|europe|asia|australia|southamerica|northamerica|me|africa)-(?:north|south|east|west|central)(?:east|west)?\d(?:-[a-f])?"
    r"|(?:north|west|east|south|uk|france|germany|central)(?:europe|us|south|west|central|east)\d?"
)
_VERSION = re.compile(r"v\d+(?:\.(?:\d+|x|\*))*(?:-?(?:rc|beta|alpha)\.?\d*)?|\d+\.\d+\.\d+[\w.+-]*|\d+(?:\.\d+)*\.(?:x|\*)")
_ADDRESS = re.compile(
    r"[a-z][a-z\d+.-]*://\S+|\d{1,3}(?:\.\d{1,3}){3}(?::\d+|/\d+)?|(?:[a-z\d-]+\.)+(?:com|org|net|io|dev|local|internal|cloud|svc)(?::\d+)?"
)
_PATH = re.compile(r"~?/?[\w.@*-]*(?:/[\w.@*{}-]+)+/?")
_CAMEL = re.compile(r"[a-z\d][A-Z]|[A-Z]{2,}[a-z]{2,}")
METHODS = frozenset("GET POST PUT PATCH DELETE HEAD OPTIONS".split())
_ZONES = frozenset({"utc", "gmt", "cet", "cest", "pst", "pdt", "est", "edt", "ist", "jst"})
_ZONE = re.compile(r"(?:europe|america|asia|africa|australia|pacific)/[a-z_]+")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Sort(Enum):
    """What sort of token it is; sorts other than WORD, STOP and MARK are values that can stand against each other."""

    WORD = "word"
    STOP = "stop"
    MARK = "mark"
    QUANTITY = "quantity"
    NAME = "name"
    PATH = "path"
    ADDRESS = "address"
    REGION = "region"
    ENVIRONMENT = "environment"
    VERSION = "version"
    BOOLEAN = "boolean"
    DAY = "day"
    CHANNEL = "channel"
    ZONE = "zone"


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """`surface` is case-folded; `ends` holds the punctuation that closes it ('', ',', ':' or '.')."""

    surface: str
    key: str
    sort: Sort
    sign: int = 0
    weight: float = 1.0
    proper: bool = False
    ends: str = ""
    quantity: Quantity | None = None
    named: bool = False
    """Whether a word stands where it names something, whatever it means elsewhere."""


def as_name(token: Token) -> Token:
    """Returns the word as a name, which stands for nothing but itself."""
    return replace(token, key=stem(token.surface), sign=0, weight=max(token.weight, 1.0), named=True)


def sort_of(word: str, original: str) -> Sort:
    """Returns the sort of one word by its form; `word` is case-folded, `original` as written."""
    for words, sort in _BY_WORD:
        if word in words:
            return sort
    if original in METHODS:
        return Sort.NAME
    if original.isalpha():
        # A name in camel case, unless it is one of our words ("CrashLoopBackOff").
        return Sort.NAME if _CAMEL.search(original) and concept_of(word).key == stem(word) else Sort.WORD
    if CJK.search(word):
        return Sort.WORD
    return next((sort for pattern, sort in _BY_FORM if pattern.fullmatch(word)), Sort.NAME)


_BY_WORD = (
    (frozenset(lexicon.ENVIRONMENTS), Sort.ENVIRONMENT),
    (frozenset(lexicon.DAY_WORDS), Sort.DAY),
    (lexicon.BOOLEANS, Sort.BOOLEAN),
    (_ZONES, Sort.ZONE),
)
_BY_FORM = (
    (re.compile(r"#.+"), Sort.CHANNEL),
    (_ZONE, Sort.ZONE),
    (_REGION, Sort.REGION),
    (_VERSION, Sort.VERSION),
    (_ADDRESS, Sort.ADDRESS),
    (_PATH, Sort.PATH),
)
