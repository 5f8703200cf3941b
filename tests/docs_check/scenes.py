"""What a page takes for granted, and what stands for the names that a reader puts in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Given:
    """Commands that run before the first block of a page in which `words` stand."""

    words: str
    language: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Scene:
    before: Sequence[Given] = ()
    instead: Mapping[str, str] = field(default_factory=dict)
    """What is run instead of some words of a block."""


FIRST = """$({listing} | python -c 'import json, sys; print(json.load(sys.stdin)["{name}"][0]["id"])')"""
"""The id of what a listing shows first."""

PAYMENTS = "tributary tribe list --json | grep -q '\"payments\"' || tributary tribe create payments --curator alice"

CELLS = """
tributary postgres psql --quiet --command='CREATE DATABASE eu' --command='CREATE DATABASE us'
asked="SELECT current_setting('unix_socket_directories') || '&port=' || current_setting('port')"
where=$(tributary postgres psql --tuples-only --no-align --command="$asked")
export TRIBUTARY_CELLS="eu=postgresql://postgres@/eu?host=$where,us=postgresql://postgres@/us?host=$where"
tributary migrate --all-cells
tributary tribe create payments --curator alice --cell eu
tributary agent create deploy-bot --role writer --tribe payments --cell eu
"""
"""Two cells, as databases of the server that is there."""

RUNBOOKS = """
mkdir -p docs/runbooks .claude/skills/deploying
printf '# Deploying\\n\\n## Payments\\n\\nDrain the queue before you deploy payments.\\n' > docs/runbooks/deploying.md
printf '# Agents\\n\\n- Run the linter before you commit.\\n' > AGENTS.md
cd .claude/skills/deploying
printf -- '---\\nname: deploying\\ndescription: deploying a service\\n---\\n\\nAnnounce each deploy.\\n' > SKILL.md
cd ../../..
"""

AS_PRINTED = """
grep '^ *curl ' "$MACHINE/serving.log" | sed 's/curl -sS/curl -sS --fail-with-body/' > "$MACHINE/printed.bash"
test "$(wc -l < "$MACHINE/printed.bash")" -ge 2
. "$MACHINE/printed.bash"
"""
"""The lines that the server prints at its first start "work as printed"."""

SCENES: Mapping[str, Scene] = {
    "README.md": Scene(
        before=(
            Given(words="make install", language="sh", text=AS_PRINTED),
            Given(words="tributary import docs/runbooks", language="sh", text=RUNBOOKS),
            Given(
                words="memory.once(",
                language="python",
                text="class payments:\n    refund = staticmethod(lambda order: f'{order} refunded')\n",
            ),
        ),
    ),
    "docs/sdk.md": Scene(
        before=(
            Given(
                words="memory = Memory()",
                language="python",
                text="""
import json, pathlib
from tributary.client import Memory
connection = json.loads((pathlib.Path.home() / ".local/share/tributary/connection.json").read_text())
server_url, token = connection["url"], connection["token"]
with Memory() as curating:
    made = curating.curation.create_agent("sdk-page", "writer")
writer = Memory(server_url, made.token)
""",
            ),
        ),
    ),
    "docs/actions.md": Scene(
        before=(
            Given(
                words="from tributary.client import Memory, NotDone",
                language="python",
                text="""
import hashlib, json
from tributary.client import LessonDraft, Memory, observed
invoice = {"order": "1812", "cents": 990}
def reboot(host): return {"rebooted": host}
with Memory() as doubting:
    for key in ("reboot:db-1:inc-1", "reboot:db-2:inc-1"):
        begun = doubting.actions.begin(key)
        doubting.actions.fail(begun.action, begun.lease, "no answer came", unsure=True)
""",
            ),
        ),
        instead={
            "act_...": FIRST.format(listing="tributary action list --state in_doubt --json", name="actions"),
        },
    ),
    "docs/evidence.md": Scene(
        before=(
            Given(
                words="memory.attach(",
                language="python",
                text="""
from tributary.client import Memory, observed
memory = Memory()
with open("deploy.log", "w") as file:
    file.write("429 Too Many Requests")
""",
            ),
        ),
    ),
    "docs/reviewing.md": Scene(
        before=(
            Given(
                words="python -m evals.review list",
                language="python",
                text="""
from tributary.client import Memory, observed
with Memory() as curator:
    made = curator.curation.create_agent("reviewing-page", "writer")
    with Memory(curator.url, made.token) as writer:
        for name, limit in (("orders", 40), ("invoices", 60), ("refunds", 90)):
            taught = curator.learn(
                f"The {name} queue takes {limit} messages a second",
                situation=f"filling the {name} queue",
                source=observed("run:1"),
            )
            writer.contest(taught.lesson, f"The {name} queue takes {limit * 7} messages a second", source=observed("run:2"))
    for dispute in list(curator.curation.disputes()):
        curator.curation.both_stand(dispute)
""",
            ),
        ),
        instead={
            "export TRIBUTARY_URL=... TRIBUTARY_TOKEN=...": ":",
            "rev_...": FIRST.format(listing="tributary curate reviews --json", name="reviews"),
        },
    ),
    "docs/import.md": Scene(
        before=(
            Given(
                words="tributary import docs/runbooks", language="sh", text=f"mkdir -p ~/runbooks && cd ~/runbooks\n{RUNBOOKS}"
            ),
        ),
    ),
    "docs/backup.md": Scene(
        before=(Given(words="tributary export payments", language="sh", text=f"mkdir ~/backup && cd ~/backup\n{PAYMENTS}"),),
    ),
    "docs/scale.md": Scene(
        before=(Given(words="--cell eu", language="sh", text=f"mkdir ~/scale && cd ~/scale\n{CELLS}"),),
    ),
    "docs/exporting.md": Scene(
        before=(Given(words="tributary export payments", language="sh", text=PAYMENTS),),
        instead={"tributary migrate ": "export TRIBUTARY_HOME=$HOME/there\ntributary migrate "},
    ),
}
