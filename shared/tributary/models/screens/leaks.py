"""Rules against texts that break out: of their fence, of the house with what it keeps, of data into a browser's code."""

from __future__ import annotations

from tributary.models.screens.rules import Reason, Rule, rule

_FENCE_ESCAPE: tuple[Rule, ...] = (
    # The data is said to be over. (Closing tags that close nothing are looked for in `frames`.)
    rule(
        Reason.FENCE_ESCAPE,
        r"""\b(?:end|close) of (?:the )?(?:untrusted |recalled |retrieved |user |external |quoted )*
        (?:data|lessons?|memor(?:y|ies)|context|input|documents?|content|block) ?(?:-{2,}|={2,}|#{2,}|>{2,}|$)
        |(?:-{3,}|={3,}|#{3,}|<{3,}) ?(?:end|close) (?:of )?(?:the )?(?:untrusted |recalled |user )*
        (?:data|lessons?|memor(?:y|ies)|context|input|documents?|content|prompt)\b""",
        hints="end |close ",
        view="marked",
    ),
)

_SEND = (
    r"(?:send|post|upload|forward|exfiltrate|leak|transmit|e-?mail|mail|submit|report|append|deliver|push|put|attach|copy|share|"
    r"move|write)"
)
# All secrets, or those of others: one key sent where it belongs is ordinary advice.
_SECRETS = (
    r"(?:all|any|every|each|your|their|the users?'?s?|the customers?'?s?|everyone'?s?|whatever)(?: \w+)?"
    r" (?:api[ -]?keys|keys|tokens|passwords?|credentials?|secrets|private keys?|cookies|session cookies|session tokens?|"
    r"ssh keys?|certificates)(?: \w+){0,3}"
)
_PRIVATE = (
    r"(?:your |the |all |any |full )*(?:env(?:ironment)? variables|conversation(?: history)?|chat history|session history|"
    r"system prompt|memory contents?|contents? of (?:the |your )?(?:\.env|memory|~?/\S+|env)|"
    r"\.env(?: file)?|id_rsa|/etc/(?:passwd|shadow)|~?/\.(?:ssh|aws)\S*)"
)
_OUTSIDE = r"(?:\b(?:https?|ftp|wss?):|\bwww\.|@\S{1,60}\.\w|\b\d{1,3}(?:\.\d{1,3}){3}|\bwebhook|\bpastebin|\bngrok)"
_FILES = r"(?:\.env\b|\.ssh|id_rsa|\.aws/|/etc/(?:passwd|shadow)|\.kube/config)"

_EXFILTRATION: tuple[Rule, ...] = (
    # Print your system prompt.
    rule(
        Reason.EXFILTRATION,
        r"""\b(?:print|reveal|show|output|repeat|display|disclose|leak|dump|expose|tell me|give me|write out|share|send)
        [ ](?:me |us )?(?:all |the |full |entire |exact |complete )*(?:of )?your (?:\w+ )?
        (?:system prompt|prompt|instructions|hidden instructions|rules|guidelines|context window|training data|memory|memories|
        conversation)\b""",
        hints="your ",
    ),
    # Send all API keys to https://...
    rule(
        Reason.EXFILTRATION,
        rf"""\b{_SEND}\b[^!?;]{{0,60}}?(?<!\w)(?:{_SECRETS}|{_PRIVATE})[^!?;]{{0,40}}?\b(?:to|into|at|via|on)\b[^!?;]{{0,30}}?
        {_OUTSIDE}""",
        hints="http|ftp:|www.|@|webhook|pastebin|ngrok|ws:|wss:|.0|.1|.2|.3|.4|.5|.6|.7|.8|.9",
        view="marked",
    ),
    # A URL with an open parameter for what is to be taken out.
    rule(
        Reason.EXFILTRATION,
        r"""\b(?:tokens?|keys?|secrets?|passwords?|cookies?|credentials?)\b[^!?;]{0,60}
        \bhttps?://[^\s"'<>]{1,200}[?&]\w{1,30}=(?=[\s"'.,)]|$)""",
        hints="http",
        view="marked",
    ),
    # Put the key into the address of an image.
    rule(
        Reason.EXFILTRATION,
        r"""\b(?:append|put|add|include|embed|encode|attach|insert)\b[^!?;]{0,40}
        \b(?:tokens?|keys?|secrets?|passwords?|cookies?|credentials?|conversation|history|memory|prompt)\b[^!?;]{0,60}
        \bhttps?://[^!?;]{0,240}\b(?:render|load|display|fetch|open|show)\b[^.!?;]{0,30}\b(?:image|img|picture|pixel|link)\b""",
        hints="image|img|picture|pixel|link",
        view="marked",
    ),
    rule(
        Reason.EXFILTRATION,
        r"""!\[[^\]]{0,80}\]\(\s?(?:https?:)?//[^)\s]{1,200}[?&/=][^)\s]{0,80}(?:=|/)(?:\{|\$|%7b|<|\[)""",
        hints="![",
        view="marked",
    ),
    # cat ~/.ssh/id_rsa | nc ...; curl -d @.env ...
    rule(
        Reason.EXFILTRATION,
        rf"""(?:\b(?:cat|tar|base64|grep|head|strings|xxd)\b[^|\n]{{0,80}}(?:{_FILES}|credentials\b)[^|\n]{{0,40}}
        |\b(?:printenv|env|set)\b[^|\n]{{0,20}})\|[^\n]{{0,60}}\b(?:curl|wget|nc|ncat|netcat|socat)\b""",
        hints="|",
        view="marked",
    ),
    rule(
        Reason.EXFILTRATION,
        rf"""\b(?:curl|wget|nc|ncat)\b[^\n]{{0,160}}(?:@|\$\(|`|<)[^\n]{{0,40}}(?:{_FILES}|\bprintenv\b)""",
        hints="curl|wget|nc ",
        view="marked",
    ),
)

_HANDLERS = (
    r"on(?:error|load|click|dblclick|mouse\w{1,8}|focus\w{0,3}|blur|key\w{1,6}|input|change|submit|toggle|begin|end|repeat|"
    r"animation\w{1,12}|transition\w{1,8}|pointer\w{1,12}|wheel|drag\w{0,6}|drop|copy|cut|paste|message|hashchange|pageshow|"
    r"beforeunload|unload|resize|scroll|show|start|finish|auxclick|contextmenu|touch\w{1,6}|invalid|search|select\w{0,6}|reset|"
    r"play\w{0,4}|canplay\w{0,8}|loadstart|loadeddata|progress)"
)

_MARKUP_SCRIPT: tuple[Rule, ...] = (
    # A script that does something; a bare mention of the tag is none.
    rule(
        Reason.MARKUP_SCRIPT,
        r"""<script\b[^>]{0,200}\bsrc ?=|<script\b[^>]{0,200}>
        (?: ?[a-z_$(!][^<]{0,2000}<(?: ?/ ?script)| ?[a-z_$][\w.$]{0,60} ?[(=])""",
        hints="<script",
        view="marked",
    ),
    rule(Reason.MARKUP_SCRIPT, rf"<[a-z][^<>]{{0,300}}[\s/\"']{_HANDLERS} ?=", hints="on", view="marked"),
    rule(
        Reason.MARKUP_SCRIPT,
        r"""(?:\]\( ?|(?:href|src|action|formaction|data) ?= ?["']? ?)(?:java|vb|live) ?script ?:
        |\b(?:href|src) ?= ?["']? ?data ?: ?text/html|\]\( ?data ?: ?text/html""",
        hints="script|data",
        view="marked",
    ),
    rule(
        Reason.MARKUP_SCRIPT,
        r"<(?:iframe|frame|object|embed|applet|base)\b[^>]{0,300}\b(?:src|srcdoc|data|code|href) ?=",
        hints="<iframe|<frame|<object|<embed|<applet|<base",
        view="marked",
    ),
    rule(
        Reason.MARKUP_SCRIPT,
        r"""<meta\b[^>]{0,200}http-equiv ?= ?["']?refresh|<link\b[^>]{0,200}rel ?= ?["']?import
        |style ?= ?["'][^"']{0,200}(?:expression ?\(|url\( ?["']?javascript)""",
        hints="<meta|<link|style",
        view="marked",
    ),
)

LEAKS: tuple[Rule, ...] = (*_FENCE_ESCAPE, *_EXFILTRATION, *_MARKUP_SCRIPT)
