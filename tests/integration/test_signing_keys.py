"""Receipts are signed with keys that are changed now and then, while servers run and old receipts stay verifiable."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.tribes import Tribal
from tributary.recall.signing import REREAD_S, Signer
from tributary.service import open_operator
from tributary.service.operator import Operator


@contextmanager
def _operator(tribal: Tribal) -> Iterator[Operator]:
    with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
        yield operator


def test_a_running_process_signs_with_the_new_key_after_a_while_and_knows_both(tribal: Tribal) -> None:
    now = 0.0
    signer = Signer(tribal.memory.database, clock=lambda: now)
    tribal.learn(tribal.curator, "cache one")
    receipt = tribal.recall("cache").receipt
    first = signer.sign(receipt)
    with _operator(tribal) as operator:
        assert operator.rotate_signing_key() == "k2"
    assert signer.sign(receipt).key == first.key == "k1"
    now = REREAD_S + 1
    second = signer.sign(receipt)
    assert second.key == "k2"
    for one in (first, second):
        assert signer.signed({**one.document(), "signature": one.signature})
        assert Signer(tribal.memory.database).signed({**one.document(), "signature": one.signature})
    assert not signer.signed({**first.document(), "key": "k2", "signature": first.signature})


def test_rotations_at_once_make_a_key_each_and_leave_one_in_use(tribal: Tribal) -> None:
    made: list[str] = []

    def rotate() -> None:
        with _operator(tribal) as operator:
            made.append(operator.rotate_signing_key())

    threads = [threading.Thread(target=rotate) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == [f"k{number}" for number in range(2, 8)]
    in_use = tribal.rows("SELECT key_id FROM tributary.signing_key WHERE retired_at IS NULL")
    assert in_use == [{"key_id": "k7"}]
