"""Texts that want to be more than text, for every field that a page shows; and how to tell that they stayed text.

Each carries the word `pwned` where it would take effect: as a global of the page's scripts, an attribute, a name in a style, or
beside a sum that only a template engine would do.
"""

from __future__ import annotations

from collections.abc import Mapping

from playwright.sync_api import Page

from tests.browser.watching import Kind, watch_of
from tributary.core import limits
from tributary.core.lesson import Draft, Evidence, How, Source

ELSEWHERE = "https://elsewhere.invalid/pwned"

HOSTILE: Mapping[str, str] = {
    "script": "<script data-pwned>window.pwned = 1; alert('pwned')</script>",
    "script_end": f"</script></title></textarea></template><script data-pwned src={ELSEWHERE}></script>",
    "handler": "<img data-pwned src=x onerror=\"window.pwned = 1\"><svg data-pwned onload='window.pwned = 1'>",
    "attribute_end": "\" data-pwned autofocus onfocus=\"window.pwned = 1\" x='' data-pwned onmouseover='window.pwned = 1'",
    "htmx": f'<b data-pwned hx-get="{ELSEWHERE}" hx-trigger="load" hx-on:click="window.pwned = 1">x</b>',
    "frame": f'<iframe data-pwned srcdoc="<script>parent.pwned = 1</script>"></iframe><base data-pwned href="{ELSEWHERE}">',
    "form": f'<form data-pwned action="{ELSEWHERE}"><button data-pwned formaction="{ELSEWHERE}">Sign in</button></form>',
    "markdown_link": f"[the runbook](javascript:window.pwned=1) and ![a picture]({ELSEWHERE}) and <{ELSEWHERE}>",
    "javascript_url": "javascript:window.pwned=1//pwned",
    "data_url": "data:text/html,<script>opener.pwned=1</script>pwned",
    "entity": "&lt;script data-pwned&gt;window.pwned = 1&lt;/script&gt; &#60;img data-pwned src=x onerror=window.pwned=1&#62;",
    "comment": "<!-- pwned --><!--> pwned <!- pwned --!>",
    "style": "</style><style data-pwned>:root { --pwned: 1 } body { display: none }</style>",
    "style_value": f"red; --pwned: 1; background: url({ELSEWHERE})",
    "braces": "pwned{{7*7}} pwned${7*7} pwned#{7*7} pwned<%= 7*7 %> {% include 'base.html' %} {# pwned #}",
    "right_to_left": "refund \u202e001 dnufer \u2066 pay\u2069 pwned",
    "zero_width": "pay\u200bments\u200d \ufeffpwned\u00ad \u2060x",
    "combining": "z" + "\u0336\u0327\u0301" * 40 + " pwned",
    "long_word": "pwned" + "w" * (limits.TEXT_BYTES - 5),
    "emoji": "🇩🇪🏴󠁧󠁢󠁳󠁣󠁴󠁿👩‍👩‍👧‍👦 pwned",
    "lines": "pwned\r\nSet-Cookie: pwned=1\r\n\r\n<b data-pwned>x</b>\u2028\u2029\u0085\t\v\f",
    "path": "../../../../etc/passwd?pwned=1&x=%00%2e%2e#pwned",
    "quotes": "pwned ' \" ` \\ '' \"\" \\' \\\" '; DROP TABLE tributary.lesson; --",
    "null": "null",
    "none": "None",
    "undefined": "undefined",
    "nan": "NaN",
    "false": "false",
    "zero": "0",
    "object": "[object Object]",
    "prototype": "__proto__",
}
"""By what they try."""

_ELEMENTS = """elsewhere => {
  const took = [];
  const followed = /^(href|src|srcset|action|formaction|poster|data|ping|hx-(get|post|put|delete|patch))$/;
  const told = element => element.outerHTML.replace(/\\s+/g, ' ').slice(0, 160);
  const bad = value => /^\\s*(javascript|vbscript|data:text)/i.test(value) || value.includes(elsewhere);
  if (window.pwned !== undefined || Object.prototype.pwned !== undefined) took.push('its script ran');
  if (document.cookie.includes('pwned')) took.push('it set a cookie');
  if (getComputedStyle(document.body).getPropertyValue('--pwned')) took.push('its style applies');
  for (const element of document.querySelectorAll('*')) {
    for (const {name, value} of element.attributes) {
      if (/^(on|hx-on|data-hx-on|data-pwned|style$)/.test(name)) took.push(`${name} is an attribute of ${told(element)}`);
      else if (followed.test(name) && bad(value))
        took.push(`${name} leads astray in ${told(element)}`);
    }
    if (['IFRAME', 'OBJECT', 'EMBED', 'BASE', 'META'].includes(element.tagName) && told(element).includes('pwned'))
      took.push(`it made ${told(element)}`);
  }
  const nodes = document.createTreeWalker(document, NodeFilter.SHOW_COMMENT | NodeFilter.SHOW_TEXT);
  while (nodes.nextNode()) {
    const node = nodes.currentNode;
    if (node.nodeType === Node.COMMENT_NODE) {
      if (node.data.includes('pwned')) took.push('it became a comment');
      continue;
    }
    if (/pwned[$#]?49/.test(node.data)) took.push('a template engine read it');
    if (!/[\\u202a-\\u202e\\u2066-\\u2069]/.test(node.data)) continue;
    let box = node.parentElement;
    while (box && !/isolate|plaintext/.test(getComputedStyle(box).unicodeBidi)) box = box.parentElement;
    if (!box || box.textContent.trim() !== node.data.trim())
      took.push(`it turns the text around it: ${box ? told(box) : node.data}`);
  }
  return took;
}"""

_NEVER = (Kind.ERROR, Kind.CSP, Kind.DIALOG, Kind.ELSEWHERE)


def hostile_draft(name: str, **fields: object) -> Draft:
    """Returns a lesson with the hostile text of that name in every field, as much as it holds; `fields` replace it."""
    text = HOSTILE[name]
    short = text[: limits.SUBJECT_CHARACTERS]
    given: dict[str, object] = {
        "text": text,
        "situation": _cut(text, limits.SITUATION_BYTES),
        "source": Source(how=How.OBSERVED, ref=text[: limits.REF_CHARACTERS]),
        "subject": short,
        "tags": {text[: limits.TAG_KEY_CHARACTERS]: short},
        "evidence": (
            Evidence(
                type=text[: limits.TAG_KEY_CHARACTERS], ref=text[: limits.REF_CHARACTERS], note=text[: limits.EVIDENCE_CHARACTERS]
            ),
        ),
        "rationale": text,
    }
    return Draft(**{**given, **fields})  # type: ignore[arg-type]  # the test's own keywords


def assert_inert(page: Page) -> None:
    """Fails when a hostile text is anything but text in the page: it ran, became an element, an attribute or an address that is
    followed, asked anything of elsewhere, was read by a template engine, or turns around what stands beside it."""
    took: list[str] = page.evaluate(_ELEMENTS, "elsewhere.invalid")
    took += [str(one) for one in watch_of(page).troubles if one.kind in _NEVER]
    assert not took, f"a text took effect in {page.url}:\n  " + "\n  ".join(took)


def _cut(text: str, most_bytes: int) -> str:
    return text.encode()[:most_bytes].decode(errors="ignore")
