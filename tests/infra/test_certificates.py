"""Whom a function trusts to be its database."""

from __future__ import annotations

import ssl
import time

import certifi
import pytest

from layers.memory.certificates import Authority, authorities
from layers.memory.recipe import CERTIFICATES

REGIONS = ("us-east-1", "us-east-2", "us-west-2", "eu-west-1", "eu-central-1", "eu-north-1", "ap-southeast-2", "ap-northeast-1")
SIZES = ("RSA2048", "RSA4096", "ECC384")


def trusted() -> list[Authority]:
    return authorities(CERTIFICATES.read_text(encoding="ascii"))


def test_every_certificate_is_read_and_none_twice() -> None:
    found = trusted()
    assert len(found) == CERTIFICATES.read_text(encoding="ascii").count("BEGIN CERTIFICATE") > 80
    assert len({one.der for one in found}) == len(found)


def test_none_ends_within_a_year() -> None:
    assert [one.name for one in trusted() if one.ends < time.time() + 365 * 86_400] == []


def test_each_region_has_its_roots_of_every_key_size() -> None:
    names = {one.name for one in trusted()}
    wanted = {f"Amazon RDS {region} Root CA {size} G1" for region in REGIONS for size in SIZES}
    assert wanted - names == set()


def test_the_proxys_authorities_are_the_public_ones() -> None:
    wanted = {f"Amazon Root CA {number}" for number in range(1, 5)}
    public = {one.der for one in authorities(certifi.contents()) if one.name in wanted}
    assert len(public) == 4
    assert public <= {one.der for one in trusted()}


def test_only_amazons_authorities_are_trusted_and_none_of_trial_regions() -> None:
    strangers = [one.name for one in trusted() if not one.name.startswith(("Amazon R", "Starfield Services Root"))]
    assert strangers == []
    assert not [one.name for one in trusted() if "Beta" in one.name or "Preview" in one.name]


def test_a_damaged_certificate_is_not_read() -> None:
    with pytest.raises(ssl.SSLError):
        authorities(CERTIFICATES.read_text(encoding="ascii").replace("MII", "MIJ", 1))
