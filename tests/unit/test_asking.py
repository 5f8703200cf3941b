"""How shapes are given up, without any provider."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

from tests.unit.test_language_models import PROMPT
from tributary.core.ports import Prompt
from tributary.models.llms.asking import Asking, Bounds, Form, Shape, UnfitShape
from tributary.models.metering import Meter
from tributary.models.prices import Prices

LADDER = (Form.SCHEMA, Form.TOOL, Form.OBJECT)


def test_what_another_thread_found_out_meanwhile_is_not_forgotten() -> None:
    tried: list[Form] = []

    def send(prompt: Prompt, shape: Shape, remaining_s: float) -> str:
        tried.append(shape.form)
        if len(tried) == 1:
            asking.answer(PROMPT, timeout_s=None)  # as if another thread asked while this request is on its way
        if (below := shape.below(LADDER)) is not None:
            raise UnfitShape(below)
        return "{}"

    def read(prompt: Prompt, shape: Shape, reply: str, meter: Meter) -> Mapping[str, object]:
        return {}

    asking: Asking[str] = Asking(
        version="openai:m",
        shape=Shape(form=Form.SCHEMA),
        prepare=lambda _: None,
        send=send,
        read=read,
        bounds=Bounds(),
        prices=Prices.shipped(),
        sleep=lambda _: None,
    )
    asking.answer(PROMPT, timeout_s=None)
    assert tried == [Form.SCHEMA, *LADDER, Form.OBJECT]


def test_no_library_of_a_provider_is_loaded_before_it_is_used() -> None:
    program = (
        "import sys, tributary.models.llms.listing, tributary.service.model_listing;"
        "sys.exit(bool({'boto3', 'botocore', 'openai'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
