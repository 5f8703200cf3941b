"""What the URLs of databases say, as libpq reads them."""

from __future__ import annotations

from collections.abc import Mapping

from tributary.core.errors import BadSetting

PORT = "5432"
_LAST_PORT = 65_535


def parts_of(variable: str, url: str) -> Mapping[str, str]:
    """Returns the parameters of a URL by libpq's names; raises BadSetting, which shows nothing of it, when it is none."""
    import psycopg

    try:
        parts = {name: str(value) for name, value in psycopg.conninfo.conninfo_to_dict(url).items()}
    except (psycopg.Error, ValueError):
        raise BadSetting(f"{variable}: is no URL of a PostgreSQL database") from None
    for port in parts.get("port", PORT).split(","):  # one for each of several hosts, or one for all
        if port and not (port.isascii() and port.isdigit() and 1 <= int(port[:6]) <= _LAST_PORT):
            raise BadSetting(f"{variable}: must have a port from 1 to {_LAST_PORT}")
    return parts


def place_of(url: str) -> tuple[str, str, str]:
    """Returns the host, the port and the name of the database that a URL leads to, alike for all spellings of the same."""
    try:
        parts = parts_of("", url)
    except BadSetting:  # which is told by its name where it is opened
        return url, "", ""
    host = parts.get("host") or parts.get("hostaddr", "")
    return host.lower(), parts.get("port", PORT), parts.get("dbname") or parts.get("user", "")
