"""How shapes are given up, without any provider."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping

import pytest

from tests.unit.test_language_models import PROMPT
from tributary.core.errors import ModelFailed
from tributary.core.ports import Prompt
from tributary.models.llms.asking import Asking, Bounds, Form, Shape, UnfitShape
from tributary.models.metering import Meter
from tributary.models.prices import Prices

LADDER = (Form.SCHEMA, Form.TOOL, Form.OBJECT)


def made(send: Callable[[Prompt, Shape, float], str]) -> Asking[str]:
    def read(prompt: Prompt, shape: Shape, reply: str, meter: Meter) -> Mapping[str, object]:
        return {}

    return Asking(
        version="openai:m",
        shape=Shape(form=Form.SCHEMA),
        prepare=lambda _: None,
        send=send,
        read=read,
        bounds=Bounds(),
        prices=Prices.shipped(),
        sleep=lambda _: None,
    )


def test_what_another_thread_found_out_meanwhile_is_not_forgotten() -> None:
    tried: list[Form] = []

    def send(prompt: Prompt, shape: Shape, remaining_s: float) -> str:
        tried.append(shape.form)
        if len(tried) == 1:
            asking.answer(PROMPT, timeout_s=None)  # as if another thread asked while this request is on its way
        if (below := shape.below(LADDER)) is not None:
            raise UnfitShape(below)
        return "{}"

    asking = made(send)
    asking.answer(PROMPT, timeout_s=None)
    assert tried == [Form.SCHEMA, *LADDER, Form.OBJECT]


def test_what_no_shape_was_answered_in_is_tried_in_the_best_one_again() -> None:
    """One question that is refused whatever its shape must not cost the others theirs."""
    tried: list[Form] = []

    def send(prompt: Prompt, shape: Shape, remaining_s: float) -> str:
        tried.append(shape.form)
        below = shape.below(LADDER)
        raise ModelFailed("refused") if below is None else UnfitShape(below)

    asking = made(send)
    for _ in range(2):
        with pytest.raises(ModelFailed):
            asking.answer(PROMPT, timeout_s=None)
    assert tried == [*LADDER, *LADDER]


def test_no_library_of_a_provider_is_loaded_before_it_is_used() -> None:
    program = (
        "import sys, tributary.models.llms.listing, tributary.service.model_listing;"
        "sys.exit(bool({'boto3', 'botocore', 'openai'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
