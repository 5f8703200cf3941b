"""`python -m layers.supply.bill [--folder FOLDER]`: a software bill of materials (SBOM) of each thing that is shipped.

CycloneDX 1.6 as JSON, held to its schema before it is written. The same parts give the same bytes: a bill has no time, and its
serial number is drawn from what it says.
"""

from __future__ import annotations

import argparse
import sys
import uuid
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.contrib.this.builders import this_component
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import License
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from layers.memory.recipe import ROOT
from layers.supply.shipped import OURS, Part, Shipped, shipped

FOLDER = ROOT / "build/sbom"
_OF_BILLS = uuid.UUID("9d2b7f0e-5f0d-4c2e-9a63-6f6a0c8b1d54")
"""A name space of our own: serial numbers are drawn within it."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m layers.supply.bill", description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the bills are written (default: build/sbom)")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for one in shipped():
        file = folder / f"{one.name}.cdx.json"
        file.write_text(bill_of(one), encoding="utf-8")
        print(f"{file}: {one.meaning}, {len(one.parts)} parts")
    return 0


def bill_of(one: Shipped) -> str:
    """Returns the bill of one thing; raises ValueError if it were not one by CycloneDX's own schema."""
    text = _written(one, serial=uuid.uuid5(_OF_BILLS, repr(one)))
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if wrong is not None:
        raise ValueError(f"the bill of {one.name} breaks the schema: {wrong}")
    return text


def _written(one: Shipped, *, serial: uuid.UUID) -> str:
    whole = Component(name=f"{OURS}-{one.name}", version=distribution(OURS).version, type=ComponentType.APPLICATION, bom_ref=OURS)
    bom = Bom(serial_number=serial)
    bom.metadata.component = whole
    bom.metadata.tools.components.add(this_component())
    bom.metadata.timestamp = None  # type: ignore[assignment]  # optional in the schema: the same parts, the same bytes
    made = {part.purl: _component(part) for part in one.parts}
    bom.components.update(made.values())
    bom.register_dependency(whole, made.values())
    for part in one.distributions.values():
        needs = [made[one.distributions[name].purl] for name in sorted(_required(part.name) & one.distributions.keys())]
        bom.register_dependency(made[part.purl], needs)
    return str(JsonV1Dot6(bom).output_as_string(indent=1)) + "\n"


def _component(part: Part) -> Component:
    return Component(
        name=part.name,
        version=part.version,
        type=ComponentType.LIBRARY,
        bom_ref=part.purl,
        purl=PackageURL.from_string(part.purl),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=one) for one in part.sha256],
        licenses=list(_licences(part)),
    )


def _licences(part: Part) -> Iterable[License]:
    """Gives what an installed distribution says of its licence, in so far as that is one expression or one word."""
    try:
        said = distribution(part.name).metadata if part.purl.startswith("pkg:pypi/") else None
    except PackageNotFoundError:
        return
    for field in ("License-Expression", "License"):
        text = str(said[field]).strip() if said is not None and field in said else ""
        if text and "\n" not in text:
            yield LicenseFactory().make_from_string(text)
            return


def _required(name: str) -> set[str]:
    try:
        lines = distribution(name).requires or ()
    except PackageNotFoundError:
        return set()
    return {canonicalize_name(Requirement(line).name) for line in lines if "extra ==" not in line}


if __name__ == "__main__":
    sys.exit(main())
