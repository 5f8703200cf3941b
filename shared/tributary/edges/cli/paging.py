"""Commands that list a page: their options, their tables, and how they say that there is more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tributary.edges.cli.words import shown

if TYPE_CHECKING:
    from tributary.client import ListingPage
    from tributary.edges.cli.output import Output

LARGEST_PAGE = 100

Limit = Annotated[int, typer.Option(metavar="NUMBER", min=1, max=100, help="Show at most so many.")]
Before = Annotated[str | None, typer.Option(metavar="CURSOR", help="Go on where a page ended, as that page told.")]
OfLesson = Annotated[str | None, typer.Option(metavar="ID", help="Only what this lesson is part of.")]


def page_document(name: str, page: ListingPage[Any]) -> dict[str, object]:
    """Returns a page as the API sends it, the receipt as it was signed."""
    items = [one.model_dump(mode="json") for one in page.items]
    return {name: items, "next": page.next, "receipt": page.receipt.document()}


def say_more(output: Output, page: ListingPage[Any]) -> None:
    """Says, beside the result, with which option the next page is shown; nothing when there is none."""
    if page.next is not None:
        output.remark(f"There are more: --before {shown(page.next)} goes on.")


def show_rows(output: Output, headings: Sequence[str], rows: Sequence[Sequence[str]], *, head: int) -> None:
    """Says rows as lines with tabs; on a terminal each as a block, the first `head` cells on its first line.

    A table would break the ids, which are there to be copied.
    """
    if not output.wide():
        output.table([(heading, "left") for heading in headings], rows)
        return
    output.blocks(headings, rows, head=head)
