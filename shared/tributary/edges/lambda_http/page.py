"""The API's description as a page: plain HTML made on the server, with no script and nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from typing import Any

from tributary.contract.problems import PROBLEMS
from tributary.edges.lambda_http.openapi import document

Json = Mapping[str, Any]

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #f3f5f7; --line: #ccd3da; --mark: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ee; --paper: #14181c; --soft: #1e2429; --line: #3a444d; --mark: #7db8f5; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem; font: 1rem/1.55 system-ui, sans-serif;
  color: var(--ink); background: var(--paper); overflow-wrap: break-word; }
a { color: var(--mark); }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
h3 { margin: 2rem 0 .25rem; font-size: 1.05rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; overflow-x: auto; }
.method { display: inline-block; min-width: 3.2rem; color: var(--mark); font-weight: 700; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .75rem 0; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border: 1px solid var(--line); }
th { background: var(--soft); white-space: nowrap; }
td:first-child { white-space: nowrap; }
summary { cursor: pointer; padding: .25rem 0; }
:target { background: var(--soft); }
"""

CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Lets the page's own style in and nothing else: no script, image, font, frame or form."""


@cache
def page() -> str:
    """Returns the page as HTML."""
    api = document()
    body = "".join(_sections(api))
    title = escape(f"{api['info']['title']} {api['info']['version']}")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}: the API</title><style>{_STYLE}</style></head><body>{body}</body></html>\n"
    )


def _sections(api: Json) -> Iterable[str]:
    info = api["info"]
    yield f"<header><h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{_prose(info['description'])}</p>"
    yield '<p>The same as a document for machines: <a href="/openapi.json">/openapi.json</a></p></header>'
    yield f'<nav aria-label="Contents">{_contents(api)}</nav><main>'
    yield '<h2 id="operations">Operations</h2>'
    for path, operations in api["paths"].items():
        for method, operation in operations.items():
            yield from _operation(path, method, operation)
    yield f'<h2 id="problems">Problems</h2>{_problems()}'
    yield '<h2 id="schemas">Schemas</h2>'
    for name, schema in api["components"]["schemas"].items():
        yield f'<h3 id="schema-{escape(name)}"><code>{escape(name)}</code></h3>{_schema_body(schema)}'
    yield "</main>"


def _contents(api: Json) -> str:
    entries = "".join(
        f'<li><span class="method">{escape(method.upper())}</span> '
        f'<a href="#{escape(one["operationId"])}"><code>{escape(path)}</code></a> {escape(one["summary"])}</li>'
        for path, operations in api["paths"].items()
        for method, one in operations.items()
    )
    return f'<ul>{entries}<li><a href="#problems">Problems</a></li><li><a href="#schemas">Schemas</a></li></ul>'


def _operation(path: str, method: str, operation: Json) -> Iterable[str]:
    yield f'<section aria-labelledby="{escape(operation["operationId"])}">'
    yield f'<h3 id="{escape(operation["operationId"])}"><span class="method">{escape(method.upper())}</span> '
    yield f"<code>{escape(path)}</code></h3><p>{escape(operation['summary'])}. "
    yield f"{escape(operation.get('description', 'Open to everyone.'))}</p>"
    parameters = operation.get("parameters", [])
    if parameters:
        rows = [(_code(one["name"]), escape(one["in"]), _type(one["schema"]), _prose(one["description"])) for one in parameters]
        yield _table(("Parameter", "In", "Type", "Meaning"), rows)
    body = operation.get("requestBody")
    if body:
        yield from _content("Body" if body["required"] else "Body, which may be left out", body["content"])
    for status, response in operation["responses"].items():
        if "content" in response:
            yield from _content(f"{status}: {response['description']}", response["content"])
    refused = ", ".join(status for status, response in operation["responses"].items() if "$ref" in response)
    yield f'<p>Otherwise {escape(refused)}, with a <a href="#problems">problem</a>.</p></section>'


def _content(caption: str, content: Json) -> Iterable[str]:
    for media_type, one in content.items():
        yield f"<p><strong>{escape(caption)}</strong> ({_code(media_type)}): {_type(one['schema'])}</p>"
        if "example" in one:
            text = json.dumps(one["example"], indent=2, ensure_ascii=False)
            # A region that scrolls must be reachable by keyboard.
            yield f'<details><summary>Example</summary><pre tabindex="0">{escape(text)}</pre></details>'


def _problems() -> str:
    rows = [
        (f'<code id="problem-{escape(kind.code)}">{escape(kind.code)}</code>', str(kind.status), escape(kind.title))
        for kind in PROBLEMS.values()
    ]
    return _table(("Code", "Status", "Meaning"), rows)


def _schema_body(schema: Json) -> str:
    required = set(schema.get("required", ()))
    rows = [
        (
            _code(name),
            _type(one),
            "yes" if name in required else "no",
            _prose(one.get("description", "")) + _default(one),
        )
        for name, one in schema.get("properties", {}).items()
    ]
    about = f"<p>{_prose(schema['description'])}</p>" if "description" in schema else ""
    return about + (_table(("Field", "Type", "Required", "Meaning"), rows) if rows else "")


def _default(schema: Json) -> str:
    default = schema.get("default")
    return "" if default is None else f" Default: {_code(json.dumps(default))}"


def _type(schema: Json) -> str:
    """Returns a schema in a few words, as HTML."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return f'<a href="#schema-{escape(name)}">{escape(name)}</a>'
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return "one of " + ", ".join(_code(str(choice)) for choice in schema["enum"])
    if "const" in schema:
        return _code(str(schema["const"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}{_bounds(schema)}"
    return escape(str(schema.get("format") or schema.get("type", "any"))) + _bounds(schema)


_BOUNDS = {
    "minimum": "from {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "to {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "maxItems": "at most {}",
    "maxProperties": "at most {} entries",
    "pattern": "like {}",
}


def _bounds(schema: Json) -> str:
    words = [words.format(schema[key]) for key, words in _BOUNDS.items() if key in schema]
    return f" ({escape(', '.join(words))})" if words else ""


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Returns a table; the cells are HTML already, the head is text."""
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table></div>'


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _prose(text: str) -> str:
    """Returns text with its `backticked` words as code, as HTML."""
    pieces = text.split("`")
    return "".join(_code(piece) if index % 2 else escape(piece) for index, piece in enumerate(pieces))
