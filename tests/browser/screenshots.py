"""Takes the pictures of the dashboard that the docs show: python -m tests.browser.screenshots [name ...]

They are of the tribe of `populate.py`, whose story ends at a fixed instant for the server and the browser alike, so that a
picture changes when its page does. Ids alone are new each time.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from tests.browser.chromium import launched
from tests.browser.layout import settled
from tests.browser.populate import populated_company
from tests.browser.site import Site, open_site
from tests.browser.tabs import Tabs, Theme, Width
from tests.browser.watching import watch_of
from tests.doubles import SetClock
from tributary.models.embedders import MiniLmEmbedder
from tributary.store import Target
from tributary.store.embedded import EmbeddedPostgres
from tributary.store.migrate import migrate

IMAGES = Path(__file__).parents[2] / "docs" / "images"
TAKEN_AT = datetime(2026, 11, 27, 15, 4, tzinfo=UTC)
"""The present of every picture."""
MOST_BYTES = 120_000
COLOURS = 256


@dataclass(frozen=True, kw_only=True)
class Shot:
    """A picture: of which page, as whom, and how large. It is kept as dashboard-<name>.png."""

    name: str
    path: str = "/"
    follow: str | None = None
    """A selector of what is clicked there, to come to the page that is meant."""
    who: str | None = "curator"
    theme: Theme = "light"
    width: Width = 1440
    ready: Callable[[Page], object] = settled
    """Waits until the page shows what it is to show."""

    @property
    def file(self) -> str:
        return f"dashboard-{self.name}.png"


SHOTS: Sequence[Shot] = (
    Shot(name="sign-in", who=None, path="/sign-in"),
    Shot(name="now"),
    Shot(name="now-dark", theme="dark"),
    Shot(name="now-phone", width=375),
    Shot(name="lessons", path="/lessons"),
    Shot(name="search", path="/lessons?query=checkout+answers+503"),
    Shot(name="search-phone", path="/lessons?query=checkout+answers+503", width=375, theme="dark"),
    Shot(name="lesson", path="/lessons?status=superseded", follow="main a[href^='/lessons/les_']"),
    Shot(name="time-travel", path="/time-travel?at=8"),
    Shot(name="time-travel-diff", path="/time-travel?from=6&at=11"),
    Shot(name="time-travel-phone", path="/time-travel?at=8", width=375, theme="dark"),
    Shot(name="disputes", path="/disputes"),
    Shot(name="dispute", path="/disputes", follow="main a[href^='/disputes/dis_']"),
    Shot(name="dispute-dark", path="/disputes", follow="main a[href^='/disputes/dis_']", theme="dark"),
    Shot(name="quarantine", path="/quarantine"),
    Shot(name="decision", path="/decisions", follow="main a[href^='/decisions/dec_']"),
    Shot(name="reviews", path="/reviews"),
    Shot(name="actions", path="/actions"),
    Shot(name="action", path="/actions", follow="main a[href^='/actions/act_']"),
    Shot(name="agents", path="/agents"),
    Shot(name="agent", path="/agents", follow="main a[href^='/agents/agt_']"),
    Shot(name="audit", path="/audit"),
    Shot(name="status", path="/status"),
    Shot(name="status-dark", path="/status", theme="dark"),
    Shot(name="quality", path="/quality", who="curator"),
    Shot(name="quality-phone", path="/quality", who="curator", width=375),
    Shot(name="cost", path="/costs", who="curator"),
    Shot(name="cost-dark", path="/costs", who="curator", theme="dark"),
    Shot(name="status-phone", path="/status", width=375),
)


def take(site: Site, shot: Shot, folder: Path = IMAGES) -> int:
    """Writes the picture and returns its bytes. Raises AssertionError when its page goes wrong, or it would be too large."""
    page = site.visit(shot.who, theme=shot.theme, width=shot.width, zone="Europe/Berlin", at=TAKEN_AT, path=shot.path)
    if shot.follow is not None:
        page.locator(shot.follow).first.click()
    shot.ready(page)
    wrong = watch_of(page).unexpected()
    assert not wrong, f"{shot.path} is not as it should be: {'; '.join(wrong)}"
    picture = small(page.screenshot(animations="disabled", caret="hide"))
    assert len(picture) <= MOST_BYTES, f"{shot.file} would be {len(picture)} bytes; at most {MOST_BYTES} are kept"
    return (folder / shot.file).write_bytes(picture)


def small(png: bytes) -> bytes:
    """Returns the picture with a palette of its own, the best of COLOURS colours."""
    with Image.open(io.BytesIO(png)) as whole:
        flat = whole.convert("RGB").quantize(COLOURS, method=Image.Quantize.MEDIANCUT, kmeans=2, dither=Image.Dither.NONE)
    written = io.BytesIO()
    flat.save(written, "PNG", optimize=True)
    return written.getvalue()


@contextmanager
def lived_in() -> Iterator[Site]:
    """Gives the site of the tribe at TAKEN_AT, over a server and a browser of its own."""
    with ExitStack() as opened:
        home = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="tributary-screenshots-")))
        url = opened.enter_context(EmbeddedPostgres.join(home, fast=True)).url()
        migrate(Target(url=url))
        embedder = MiniLmEmbedder()
        company = populated_company(url, ends_at=TAKEN_AT, embedder=embedder)
        tabs = Tabs(opened.enter_context(launched()))
        yield opened.enter_context(open_site(url, tabs, company=company, embedder=embedder, clock=SetClock(stands_at=TAKEN_AT)))


def main(names: Sequence[str]) -> None:
    wanted = [shot for shot in SHOTS if not names or shot.name in names]
    unknown = set(names) - {shot.name for shot in wanted}
    if unknown:
        sys.exit(f"no picture is named {', '.join(sorted(unknown))}; there are: {', '.join(shot.name for shot in SHOTS)}")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with lived_in() as site:
        for shot in wanted:
            sys.stdout.write(f"{shot.file}: {take(site, shot)} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
