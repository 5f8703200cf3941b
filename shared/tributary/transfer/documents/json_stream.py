"""A JSON document read value by value, so that a list of any length takes the memory of one entry."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import NoReturn

from tributary.transfer.documents.item import Unreadable
from tributary.transfer.documents.lines import ByteSource

VALUE_CHARACTERS = 1024 * 1024
_CHUNK_BYTES = 64 * 1024
_SPACE = " \t\n\r"


class JsonStream:
    """Reads JSON from bytes. Every method raises Unreadable for what is no JSON, is not UTF-8, or has too long an entry."""

    def __init__(self, stream: ByteSource) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._parse = json.JSONDecoder(parse_constant=_no_number).raw_decode
        self._text = ""
        self._place = 0
        self._read = 0
        self._ended = False

    def next(self) -> str:
        """Returns the next character that is no white space, without taking it; nothing at the end."""
        while True:
            while self._place < len(self._text) and self._text[self._place] in _SPACE:
                self._place += 1
            if self._place < len(self._text) or not self._fill():
                return self._text[self._place : self._place + 1]

    def take(self, expected: str) -> None:
        """Takes a character that must come next."""
        if self.next() != expected:
            raise Unreadable(f"is not JSON: a '{expected}' is missing at character {self._at()}")
        self._place += 1

    def value(self) -> object:
        """Takes the next value, of whatever kind."""
        self.next()
        while True:
            try:
                found, end = self._parse(self._text, self._place)
            except RecursionError:
                raise Unreadable(f"is nested too deep at character {self._at()}") from None
            except ValueError:
                found, end = None, len(self._text)
                broken = True
            else:
                broken = False
            if not broken and (self._ended or self._is_whole(end)):
                self._place = end
                return found
            if len(self._text) - self._place > VALUE_CHARACTERS:
                raise Unreadable(f"has a value of more than {VALUE_CHARACTERS} characters, or no JSON, at character {self._at()}")
            if not self._fill() and broken:
                raise Unreadable(f"is not JSON at character {self._at()}")

    def entries(self) -> Iterator[object]:
        """Takes a list, yielding its entries."""
        self.take("[")
        first = True
        while self.next() != "]":
            if not first:
                self.take(",")
            first = False
            yield self.value()
        self.take("]")

    def keys(self) -> Iterator[str]:
        """Takes an object, yielding its keys; its reader takes each one's value."""
        self.take("{")
        first = True
        while self.next() != "}":
            if not first:
                self.take(",")
            first = False
            key = self.value()
            if not isinstance(key, str):
                raise Unreadable(f"is not JSON: the name before character {self._at()} is no text")
            self.take(":")
            yield key
        self.take("}")

    def _is_whole(self, end: int) -> bool:
        """Tells whether the value that ends there does: a number may go on, with its fraction or exponent, in what is to come."""
        return len(self._text) - end > len("e-1") or self._text[end : end + 1] in tuple(",]}:")

    def _fill(self) -> bool:
        """Reads on; as much again as waits already, so that a long value is not parsed anew for each piece of it."""
        if self._ended:
            return False
        rest = self._text[self._place :]
        raw = self._stream.read(max(_CHUNK_BYTES, len(rest)))
        self._ended = not raw
        try:
            more = self._decode(raw, self._ended)
        except UnicodeDecodeError:
            raise Unreadable(f"is not UTF-8 text after character {self._read}") from None
        self._read += len(more)
        self._text, self._place = rest + more, 0
        return True

    def _at(self) -> int:
        return self._read - len(self._text) + self._place + 1


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)
