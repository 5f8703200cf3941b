"""Denials in languages that the guard cannot read: told by a few words of theirs which English lacks, or by their script.

What is denied nobody here can tell, so whoever asks has to take it for the worst. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from tributary.models.screens.views import undisguised

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_DENIALS = frozenset(
    # German, Dutch
    "kein keine keinen keiner keinem keines keinerlei nicht nichts niemand niemals nie geen niets nooit niemand nergens"
    # French
    " aucun aucune rien jamais n'y n'a n'ai n'est n'avons n'ont n'existe"
    # Spanish, Portuguese
    " ningun ninguna ninguno nada nunca nadie jamas nenhum nenhuma nao ninguem"
    # Italian, Romanian
    " nessun nessuna nessuno niente nulla niciun nicio nimic"
    # Danish, Norwegian, Swedish, Finnish
    " ingen inget inga aldrig aldri ikke inte ingenting mitaan koskaan"
    # Polish, Czech, Turkish, Indonesian
    " brak nigdy nikt zaden zadne zadnych nikdy nikdo zadny hicbir yok tidak belum".split()
)
_PAIRS = frozenset(
    (no, verb)
    for no, verbs in (
        ("no", "hay existen existe consta constan conozco conocemos tenemos hemos encontre encontramos se"),
        ("non", "ci abbiamo ho risulta risultano esistono esiste si e"),
        ("sin", "precedentes antecedentes registros"),
        ("sem", "precedentes registros historico"),
        ("sans", "precedent precedents"),
        ("ohne", "beispiel vorfall"),
    )
    for verb in verbs.split()
)
"""What is a denial only together: each of the first is a word of English, or part of a name."""
_FOREIGN_LETTERS = 4
"""So many in another script are a word; fewer are a sign, such as those of units."""


def denies_in_another_language(sentence: str) -> bool:
    """Tells whether a sentence denies something in a language other than English, or is written in another script."""
    plain = undisguised(sentence.replace("’", "'"))
    found = _WORD.findall(plain)
    if any(word in _DENIALS for word in found) or any(pair in _PAIRS for pair in pairwise(found)):
        return True
    # a word all in another script; look-alikes among Latin letters are a disguise, which falls off elsewhere
    return sum(len(word) for word in _WORD.findall(sentence) if all(map(_is_foreign, word))) >= _FOREIGN_LETTERS


def _is_foreign(letter: str) -> bool:
    return letter.isalpha() and not letter.isascii() and not unicodedata.name(letter, "").startswith(("LATIN ", "FULLWIDTH "))
