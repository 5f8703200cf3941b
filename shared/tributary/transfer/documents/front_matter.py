"""The YAML between --- at the head of a Markdown file: read without trust, and turned into tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tributary.core.lesson import Kind
from tributary.core.limits import SUBJECT_CHARACTERS
from tributary.transfer.documents.item import Unreadable
from tributary.transfer.documents.tags import tags_of

MOST_CHARACTERS = 16 * 1024
_NOT_TAGS = ("title", "subject", "kind", "description")


@dataclass(frozen=True, kw_only=True)
class FrontMatter:
    """`lines` is how many lines it takes, its fences too; `left_out` names what makes no tag."""

    values: Mapping[str, object] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    lines: int = 0

    def word(self, name: str) -> str | None:
        """Returns a value that is one line of text, None where there is none such."""
        value = self.values.get(name)
        return " ".join(value.split()) or None if isinstance(value, str) else None

    @property
    def subject(self) -> str | None:
        subject = self.word("subject")
        return subject[:SUBJECT_CHARACTERS].strip() if subject else None

    @property
    def kind(self) -> str | None:
        kind = self.word("kind")
        return kind if kind in set(Kind) else None


def front_matter(lines: list[str]) -> FrontMatter:
    """Returns what stands at the head of a document's lines; raises Unreadable for what cannot be read, with its line.

    Without a closing fence, or where what is between the fences is no mapping, the first line is a rule across the page, and
    there is none.
    """
    if not lines or lines[0].rstrip() != "---":
        return FrontMatter()
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        return FrontMatter()
    text = "\n".join(lines[1:end])
    if len(text) > MOST_CHARACTERS:
        raise Unreadable(f"the front matter has {len(text)} characters; at most {MOST_CHARACTERS} are read")
    values = _loaded(text)
    if not isinstance(values, dict):
        return FrontMatter(lines=end + 1) if values is None else FrontMatter()
    tags, left_out = tags_of(values, but=_NOT_TAGS)
    return FrontMatter(values=values, tags=tags, left_out=left_out, lines=end + 1)


def _loaded(text: str) -> object:
    """Returns YAML as texts, lists and mappings alone. A scalar is the text that it is written as, so that 1.10 stays so."""
    import yaml

    class Loader(yaml.BaseLoader):  # type: ignore[misc]  # PyYAML has no types
        def compose_node(self, parent: object, index: object) -> object:
            if self.check_event(yaml.events.AliasEvent):  # a few of them can stand for gigabytes
                raise yaml.composer.ComposerError(None, None, "aliases are not read", self.peek_event().start_mark)
            return super().compose_node(parent, index)

    try:
        return yaml.load(text, Loader=Loader)  # noqa: S506  (a BaseLoader makes texts, lists and mappings alone)
    except yaml.MarkedYAMLError as error:
        where = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        raise Unreadable(f"the front matter cannot be read{where}: {error.problem}") from None
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise Unreadable(f"the front matter cannot be read: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise Unreadable("the front matter is nested too deep") from None
