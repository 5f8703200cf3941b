"""What an agent process and the whole demo report: the JSON that one process hands to another, or to the user."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Report(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class CitationReport(Report):
    """A lesson that an agent followed: what it made it run, whether it worked, the confidence in it before and after."""

    lesson: str
    text: str
    ran: str
    worked: bool
    before: float
    after: float


class LessonReport(Report):
    """A lesson that an agent learned; `lesson` is null when the memory kept none. `contests` is the one that it disproves."""

    lesson: str | None
    outcome: str
    text: str
    contests: str | None = None


class SpentReport(Report):
    """What a language model came to: calls, tokens as the provider counted them, US dollars where its price is known."""

    calls: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: str | None


class AgentReport(Report):
    """One agent's run, over one task or several.

    steps         commands given to the world
    tasks         the steps of each task, in order
    phases        the steps of each phase, by the tool of its move; of several tasks their sum
    memory_calls  recalls, learns and reinforcements
    traps_hit     names of the traps that snapped, each once
    done          whether the service was rolled out
    recalled      ids of the lessons that recall returned and that spoke to the move at hand
    seconds       of wall time at work, without the start of the process
    shown         lessons that the memory put before the agent, in its prompt or as answers
    characters    of lesson text that these came to
    garbled       results of tools that arrived corrupted
    stuck         why the agent gave up, null when it did not
    spent         what its language model came to, null for the scripted policy
    """

    agent: str
    steps: int
    memory_calls: int
    traps_hit: list[str]
    done: bool
    recalled: list[str]
    citations: list[CitationReport]
    learned: list[LessonReport]
    seconds: float
    tasks: list[int] = Field(default_factory=list)
    phases: dict[str, int] = Field(default_factory=dict)
    shown: int = 0
    characters: int = 0
    garbled: int = 0
    stuck: str | None = None
    spent: SpentReport | None = None


class ClaimReport(Report):
    """One thing that the demo claims: whether it held, with the figures."""

    claim: str
    holds: bool
    figures: str


class Claimed(Report):
    """What every demo reports: the seed that it was drawn by, what it claims, and whether all of that holds."""

    seed: int
    claims: list[ClaimReport]
    passed: bool


class DemoReport(Claimed):
    """The whole demo. `stranger_seed` is the world whose memory the second control was given.

    `distilled`: lessons were found in transcripts by the server's model; else the agents put them into words themselves.
    `second` asks its memory before each act, `in_prompt` finds it in its prompt, `late` asks only after a failure.
    """

    stranger_seed: int
    distilled: bool = False
    first: AgentReport
    second: AgentReport
    without_recall: AgentReport
    with_strange_memory: AgentReport
    in_prompt: AgentReport
    late: AgentReport
    strange_prompt: AgentReport

    @property
    def agents(self) -> tuple[AgentReport, ...]:
        return (self.first, self.second, self.without_recall, self.with_strange_memory)

    @property
    def ways(self) -> tuple[tuple[str, AgentReport], ...]:
        """How the memory was held, and who held it so."""
        return (
            ("nothing remembered yet", self.first),
            ("as a tool, asked before each act", self.second),
            ("in the prompt, from the start", self.in_prompt),
            ("as a tool, asked after a failure", self.late),
            ("in the prompt, of another world", self.strange_prompt),
            ("none", self.without_recall),
        )
