"""The rules, in English and for markup: what each code stands for, in which view it is looked for, and the pattern.

Gaps between words are bounded and stop at the end of a sentence, so that a text is read in linear time and two innocent
sentences don't make one guilty one. Ordinary operations advice is full of imperatives; what tells an attack is whom it
addresses (the reader's instructions, the judge, whoever reads it) rather than how it sounds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a text is held back; the values are stable."""

    OVERRIDE = "override"
    ROLE_HIJACK = "role_hijack"
    FENCE_ESCAPE = "fence_escape"
    JUDGE_ATTACK = "judge_attack"
    READER_HIJACK = "reader_hijack"
    EXFILTRATION = "exfiltration"
    MARKUP_SCRIPT = "markup_script"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """`hints` are strings of which the view must hold one before the pattern is tried; none means always."""

    reason: Reason
    view: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...] = ()


def _rule(reason: Reason, pattern: str, *hints: str, view: str = "words") -> Rule:
    return Rule(reason=reason, view=view, pattern=re.compile(pattern), hints=hints)


_GAP = r"[^.!?;]{0,40}?"
_NEGATED = r"(?<!not )(?<!n't )(?<!never )(?<!nor )"

# What a model was told; and what any document may hold, which counts only when it is the earlier one.
_TOLD = r"(?:instructions?|prompts?|directives?|guidelines?|directions|guardrails?|programming|system messages?)"
_WRITTEN = r"(?:rules?|commands?|orders|messages?|context|text|constraints?|training|policies)"
_EARLIER = r"(?:previous(?:ly)?|prior|above|earlier|preceding|former|foregoing|original|initial|preexisting|existing)"
_REJECT = (
    r"(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|forget(?:ting)?|overrid(?:e|es|ing)|bypass(?:ing)?|discard(?:ing)?|neglect|"
    r"abandon|overrule|nullify|cancel|erase|drop|set aside|throw (?:away|out)|pay no (?:attention|heed) to|"
    r"(?:do not|don't|never|stop|cease|must not|should not|no longer|need not) (?:follow|obey|heed|listen to|comply with|adhere to|respect|following|obeying|"
    r"heeding|listening to|complying with|adhering to|respecting))"
)
_MODEL = r"(?:ais?|llms?|agents?|assistants?|(?:language |ai )?models?|chatbots?|bots?|copilots?|readers?)"
_HERE = r"(?:lesson|memory|note|text|message|entry|instruction|prompt|sentence|line|document|paragraph)s?"
# "this", alone or with a word for the text itself: who reads "this file" or uses "this plugin" is nobody special.
_THIS = (
    rf"(?:(?:this|these|the (?:above|following|present)) {_HERE}|the (?:lesson|memory)|this(?= ?(?:must|should|shall|has to|have to|"
    r"needs?|will|would|is |are |may|can|first|now|[,.:;!?]|$)))"
)
_LABEL = r"(?:same|conflicts?|unrelated|unsure)"

RULES: tuple[Rule, ...] = (
    # ---- override: away with what the reader was told
    _rule(
        Reason.OVERRIDE,
        rf"{_NEGATED}\b{_REJECT} {_GAP}\b{_EARLIER}\b{_GAP}\b(?:{_TOLD}|{_WRITTEN})\b",
        "previous", "prior", "above", "earlier", "preceding", "former", "foregoing", "original", "initial", "existing",
    ),
    _rule(
        Reason.OVERRIDE,
        rf"{_NEGATED}\b{_REJECT} {_GAP}\b(?:{_TOLD}|rules|orders|text) {_GAP}\b(?:above|before|earlier|so far|you (?:were|are|have))\b",
        "above", "before", "earlier", "so far", "you ",
    ),
    _rule(
        Reason.OVERRIDE,
        rf"{_NEGATED}\b{_REJECT} (?:all|any|every|each|whatever|the rest)\b(?: other| of| the| your| those| these| my)*"
        rf" (?:system )?{_TOLD}\b",
        "instruction", "prompt", "directive", "guideline", "direction", "guardrail", "programming", "message",
    ),
    _rule(
        Reason.OVERRIDE,
        rf"{_NEGATED}\b(?:{_REJECT}|skip|violate|break|circumvent|replace[sd]?|supersedes?|overrides|update[sd]?) (?:all |any |every )?(?:of )?your (?:own |system |safety |current |core )*(?:{_TOLD}|rules|training|"
        r"policies|constraints|orders)\b",
        "your ",
    ),
    _rule(Reason.OVERRIDE, rf"{_NEGATED}\b{_REJECT} the (?:rules|{_TOLD}) (?:that )?you (?:were|are|have|had|got|received|follow)\b", "you "),
    _rule(
        Reason.OVERRIDE,
        r"\b(?:you (?:were|have been|are) (?:told|given|taught)|your (?:instructions|guidelines|system prompt|rules|prompt))\b[^.!?;]{0,40}"
        r"\b(?:no longer (?:appl\w+|hold\w*|count\w*|valid)|(?:is|are) (?:now )?(?:void|null|obsolete|cancelled|canceled|invalid|revoked|suspended))\b",
        "no longer", "void", "null", "obsolete", "cancel", "invalid", "revoked", "suspended",
    ),
    _rule(
        Reason.OVERRIDE,
        rf"{_NEGATED}\b(?:ignor(?:e|ing)|disregard|forget|override) (?:what(?:ever)?|anything|everything|all) (?:that )?(?:the |your )?"
        r"(?:users?|operators?|developers?|humans?|owners?|system) (?:asked?|asks|says?|said|told|tells?|wants?|wrote|instructed|requested)\b",
        "what", "anything", "everything", "all ",
    ),
    _rule(Reason.OVERRIDE, r"\bforget (?:everything|all|anything|whatever)\b.{0,30}\b(?:told|above|before|learned|know|said)\b", "forget"),
    _rule(
        Reason.OVERRIDE,
        r"\b(?:new|updated|revised|real|actual|true) (?:instructions?|task|objective|directives?|orders) ?(?:follows?|are|is)? ?:"
        r" ?(?:you|your|ignore|do|always|never|from|the (?:agent|assistant|model|reader))\b",
        "instruction", "task", "objective", "directive", "orders",
    ),
    _rule(
        Reason.OVERRIDE,
        r"\b(?:from now on|henceforth|starting now|from this point)\b,? you (?:will|must|are|shall|should|have to|can|may|ignore|always)\b",
        "from now on", "henceforth", "starting now", "from this point",
    ),
    _rule(
        Reason.OVERRIDE,
        r"\byour (?:new|real|actual|true|only) (?:instructions?|task|goal|objective|purpose|role|mission|directive|rules) (?:is|are)\b",
        "your ",
    ),
    _rule(Reason.OVERRIDE, rf"{_NEGATED}\b{_REJECT} (?:everything|anything|all|whatever|the text|what)(?: \w+){{0,3}} (?:before|above|prior to|preceding|up to) (?:this|here|now|that)\b", "before", "above", "prior to", "preceding", "up to"),
    _rule(Reason.OVERRIDE, rf"{_NEGATED}\b{_REJECT} (?:the|any|its) system (?:prompt|messages?|instructions?)\b", "system "),
    _rule(Reason.OVERRIDE, rf"\b(?:consider|treat|regard|declare) (?:all |any |the |your )*{_EARLIER} {_TOLD} (?:as |to be )?(?:cancell?ed|void|null|revoked|superseded|invalid|obsolete|deleted|gone)\b", "consider", "treat", "regard", "declare"),
    _rule(Reason.OVERRIDE, r"\byour (?:\w+ )?(?:instructions|guidelines|system prompt|prompt) (?:have|has|are|is) (?:now )?(?:changed|been (?:updated|replaced|changed|revoked|overridden|suspended))\b", "your "),
    _rule(Reason.OVERRIDE, rf"\b(?:{_EARLIER} {_TOLD}|{_TOLD} {_EARLIER})\b(?! (?:in|of|from) (?:the|our|this) )[^!?]{{0,60}}\b(?:ignore|disregard|forget|discard|delete) (?:them|those|these|it|all of (?:it|them))\b", "them", "those", "these", " it"),
    # ---- role_hijack: another self, or turns that nobody took
    _rule(
        Reason.ROLE_HIJACK,
        r"\byou are (?:now |no longer |from now on |hereby )(?:a |an |the |in |my )*(?:dan\b|free\b|unrestricted|uncensored|unfiltered|"
        r"jailbroken|admin|root\b|system\b|developer|debug|god\b|maintenance mode and|hacker|pirate|(?:\w+ )?(?:assistant|ai\b|"
        r"language model|chatbot|bot\b)|bound by|restricted|limited)",
        "you are",
    ),
    _rule(Reason.ROLE_HIJACK, r"\b(?:do anything now|dan mode|jailbreak mode|developer mode (?:on|enabled|activated)|god mode)\b", "mode", "anything now"),
    _rule(Reason.ROLE_HIJACK, r"\b(?:pretend|imagine|act as if|behave as if|simulate) (?:that )?(?:you are|you're|to be|you have no|being) ", "pretend", "imagine", "as if", "simulate"),
    _rule(Reason.ROLE_HIJACK, r"\b(?:act|respond|answer|behave|speak|roleplay|role play) as (?:an? |the )?(?:\w+ )?(?:dan|unrestricted|uncensored|jailbroken|evil|root user|administrator|system administrator|ai|assistant|language model)\b", " as "),
    _rule(Reason.ROLE_HIJACK, r"\b(?:without|no longer (?:have|bound by)|free (?:of|from)) (?:any |all )?(?:ethical |safety |content |moral )(?:restrictions?|filters?|guidelines?|limits?)\b", "ethical", "safety", "content", "moral"),
    _rule(Reason.ROLE_HIJACK, r"<\|? ?(?:im_start|im_end|im_sep|system|assistant|user|endoftext|end_of_turn|start_header_id|eot_id)\b[^>]{0,20}\|?>", "<", view="marked"),
    _rule(Reason.ROLE_HIJACK, r"<(?:start_of_turn|end_of_turn)>|<<\/?sys>>|\[\/?inst\]|\[(?:system|assistant)(?: message| prompt)?\]", "<", "[", view="marked"),
    _rule(Reason.ROLE_HIJACK, r"(?m)^ ?#{1,4} ?(?:system|assistant|instruction|human|user)s?(?: message| prompt)? ?:", "#", view="lines"),
    _rule(Reason.ROLE_HIJACK, r"(?m)^[ >*_-]{0,6}system(?: message| prompt| note)?[*_]{0,2} ?: ?(?:you|ignore|the (?:user|operator|assistant|agent|model)|from now|new|all|always|never|override|disregard|your)\b", "system", view="lines"),
    _rule(Reason.ROLE_HIJACK, r"(?m)^[ >*_-]{0,6}(?:assistant|ai)[*_]{0,2} ?: ?(?:understood|sure|yes|okay|ok|certainly|of course|done|i will|i'll|i have|i am|acknowledged)\b", "assistant", "ai:", "ai :", view="lines"),
    # ---- fence_escape: the data is said to be over (unbalanced closing tags are looked for in `fences`)
    _rule(
        Reason.FENCE_ESCAPE,
        r"\b(?:end|close) of (?:the )?(?:untrusted |recalled |retrieved |user |external |quoted )*(?:data|lessons?|memor(?:y|ies)|context|input|documents?|"
        r"content|block) ?(?:-{2,}|={2,}|#{2,}|>{2,}|$)|(?:-{3,}|={3,}|#{3,}|<{3,}) ?(?:end|close) (?:of )?(?:the )?(?:untrusted |recalled |user )*"
        r"(?:data|lessons?|memor(?:y|ies)|context|input|documents?|content|prompt)\b",
        "end ", "close ", view="marked",
    ),
    # ---- judge_attack: what the judge or the screen is to say
    _rule(Reason.JUDGE_ATTACK, rf"\b(?:mark|label|classify|treat|judge|rate|score|count|consider|report|rule|declare) (?:this|these|it|both|them|the (?:two|new|old|pair|candidate|following|above))?(?: \w+){{0,2}} ?(?:as|to be)? (?:being |the )?{_LABEL}\b(?= ?(?:as|to|with|from|$|[.,;:!?]|whatever|regardless|no matter|always))(?<=[a-z])", "same", "conflict", "unrelated", "unsure"),
    _rule(Reason.JUDGE_ATTACK, rf"\b(?:always|only|just|simply|must|should|please|,) (?:answer|respond|reply|output|say|return|choose|give|vote|decide)(?: with| back| only)?(?: the (?:word|verdict|answer|label))? (?:is )?{_LABEL}\b(?! (?:\w+ )?(?:value|response|result|answer|code|id|data|page|error|status|body|content|ip|order|format|key|key))", "same", "conflict", "unrelated", "unsure"),
    _rule(Reason.JUDGE_ATTACK, rf"\b(?:answer|respond|reply|output|say)(?: only| always| just| with| back){{1,3}}(?: the (?:word|verdict|label))? {_LABEL}\b(?= ?(?:[.,;:!]|$|whatever|regardless|for|in|when|to))", "same", "conflict", "unrelated", "unsure"),
    _rule(Reason.JUDGE_ATTACK, rf"\b(?:this|these|the|both)(?: two| new| old)? (?:pairs?|lessons?|statements?|candidates?|texts?|entr(?:y|ies)) (?:must|should|shall|has to|have to|is to|are to)(?: always| never)? be (?:judged|labell?ed|marked|classified|treated|called|considered|rated|reported|counted)(?: as| to be)? {_LABEL}\b", "be "),
    _rule(Reason.JUDGE_ATTACK, rf"\b(?:compar|judg|evaluat|assess|classif)\w*\b[^.!?;]{{0,60}}\b(?:answer|respond|reply|output|say|return|choose|pick|vote)(?: with| only)? {_LABEL}\b", "compar", "judg", "evaluat", "assess", "classif"),
    _rule(Reason.JUDGE_ATTACK, rf"\bverdict\b ?(?:is|:|=|must be|should be|has to be|shall be)[^.!?;]{{0,20}}\b{_LABEL}\b|\b(?:right|correct|proper|only) (?:verdict|answer|label|classification)\b[^.!?;]{{0,30}}\b(?:is|must be|should be)(?: always| the word)? {_LABEL}\b(?= ?(?:[.,;:!]|$|whatever|regardless|for|in|when))", "verdict", "answer", "label"),
    _rule(Reason.JUDGE_ATTACK, rf"(?:^|[.!?] |\b(?:note|message|instructions?|attention|dear|hint|hello|hey) (?:to |for )?(?:the )?)(?:judge|evaluator|grader|classifier|screener|moderator|adjudicator)s?\b ?[,:][^.!?;]{{0,80}}\b(?:{_LABEL}|safe|benign|verdict|approve|accept|pass|trust)\b", "judge", "evaluator", "grader", "classifier", "screener", "moderator", "adjudicator"),
    _rule(Reason.JUDGE_ATTACK, r"\b(?:classify|mark|label|treat|consider|rate|judge|report|accept|flag) (?:this|these|the (?:following|above|present)) (?:lesson|text|entry|content|message|memory|input|note|statement|claim)s? (?:as|to be) (?:\w+ )?(?:safe|benign|trusted|verified|harmless|clean|approved|true|valid|not (?:malicious|an attack))\b", "safe", "benign", "trusted", "verified", "harmless", "clean", "approved", "true", "valid", "not "),
    _rule(Reason.JUDGE_ATTACK, r"\b(?:this|the present) (?:lesson|text|entry|content|message|memory|note)\b[^.!?;]{0,30}\b(?:must|should|shall|may|can|is to|needs to)(?: not| never| always)* (?:be )?(?:quarantined|flagged|screened|disputed|superseded|contested|retired|challenged|trusted|believed|accepted|classified)\b", "quarantin", "flagged", "screened", "disputed", "superseded", "contested", "retired", "challenged", "trusted", "believed", "accepted", "classified"),
    _rule(Reason.JUDGE_ATTACK, r"\b(?:do not|don't|never|must not) (?:quarantine|flag|screen|dispute|contest|retire|challenge|question) (?:this|the present|my)\b(?: (?:lesson|text|entry|memory|note|message)|[.,!;]|$)", "quarantine", "flag", "screen", "dispute", "contest", "retire", "challenge", "question"),
    _rule(Reason.JUDGE_ATTACK, r"\b(?:this|the present) (?:lesson|entry|memory|note|text|statement)?\b ?(?:supersedes|replaces|overrides|outranks|invalidates|contradicts) (?:all|any|every|each) (?:of )?(?:the )?(?:other|previous|earlier|existing|prior|older|lessons?|memor)", "supersedes", "replaces", "overrides", "outranks", "invalidates", "contradicts"),
    # ---- reader_hijack: whoever reads this later
    _rule(Reason.READER_HIJACK, rf"\b(?:(?:any|every|each|all|whichever|whatever|the|an|future|other)(?: \w+)? )?{_MODEL}(?: \w+)? ?(?:,|that|who|which)? ?(?:is |are |happens? to |who )?(?:read|recall|see|retriev|process|load|encounter|receiv|find|us|consult|pars|get)\w* (?:\w+ )?{_THIS}\b", "this", "these", " it", "the above", "the following", "the lesson", "the memory", "the note", "the entry"),
    _rule(Reason.READER_HIJACK, rf"\b(?:whoever|anyone who|anybody who|everyone who|whichever agent|those who) (?:is )?(?:read|recall|see|retriev|process|load|find|receiv|get)\w* {_THIS}", "whoever", "who ", "whichever"),
    _rule(Reason.READER_HIJACK, rf"\bif you(?: are|'re| re) (?:an? |the )?(?:\w+ )?(?:ai|llm|(?:ai |coding |browser |support )?agent|assistant|language model|model|chatbot|bot|copilot)\b(?! (?:pool|user|of|host|node))", "if you"),
    _rule(Reason.READER_HIJACK, rf"\b(?:when|whenever|after|once|if|as soon as|before) (?:you|an? {_MODEL}|the {_MODEL}|any {_MODEL}) (?:\w+ )?(?:read|recall|see|retrieve|process|load|encounter|receive|parse)s? (?:this|these|the present)\b(?! (?:error|alert|message in|log|warning|code|metric|status|line|file|table|page|exit|page)s?)", "this", "these", "the present"),
    _rule(Reason.READER_HIJACK, rf"\b(?:attention|note|message|notice|important|instructions?|reminder|warning|order)s?(?: to| for|:)?,? (?:to |for )?(?:all |any |every |the |future |other )*(?:ai |llm |autonomous )*(?:ais?|llms?|agents|assistants|language models|models|chatbots|copilots)(?: \w+)? ?[:!,-]", "attention", "note", "message", "notice", "important", "instruction", "reminder", "warning", "order"),
    _rule(Reason.READER_HIJACK, r"\b(?:dear|hello|hey|hi) (?:ai|assistant|agent|llm|model|language model|claude|gpt|chatgpt|gemini|copilot)\b", "dear", "hello", "hey", "hi "),
    _rule(Reason.READER_HIJACK, r"\bas an? (?:ai|llm|(?:large )?language model|ai (?:assistant|agent|model)|assistant)\b,? (?:you|your|it is your)\b", "as a"),
    _rule(Reason.READER_HIJACK, r"\b(?:do not|don't|never|must not|without) (?:tell|inform|notify|alert|warn|mention|reveal|report|telling|informing|notifying|alerting|mentioning)(?: \w+){0,2}? ?(?:(?:the |your |any )?(?:users?|operators?|humans?|owners?|anyone|curators?)\b(?: about| of| that)? (?:this|these|it|what you)|(?:this|it) to (?:the |your |any )?(?:users?|operators?|humans?|owners?|anyone|curators?))\b", "user", "operator", "human", "owner", "anyone", "curator"),
    _rule(Reason.READER_HIJACK, r"\b(?:include|repeat|copy|append|insert|add|propagate|spread|quote|store|save) (?:this|the above|these) (?:lesson|text|message|note|memory|instruction|sentence|paragraph)s? (?:in|to|into|with|at) (?:each|every|all|any|your)\b", "include", "repeat", "copy", "append", "insert", "add", "propagate", "spread", "quote", "store", "save"),
    _rule(Reason.READER_HIJACK, r"\byou must repeat this\b", "you must repeat"),
    # ---- exfiltration: what must not leave, and where to
    _rule(Reason.EXFILTRATION, r"\b(?:print|reveal|show|output|repeat|display|disclose|leak|dump|expose|tell me|give me|write out|share|send) (?:me |us )?(?:all |the |full |entire |exact |complete )*(?:of )?your (?:\w+ )?(?:system prompt|prompt|instructions|hidden instructions|rules|guidelines|context window|training data|memory|memories|conversation)\b", "your "),
    _rule(Reason.EXFILTRATION, rf"\b(?:send|post|upload|forward|exfiltrate|leak|transmit|e-?mail|mail|submit|report|append|deliver|push|put|attach|copy|share|move|write)\b[^!?;]{{0,60}}?\b(?:(?:all|any|every|each|your|their|the users?'?s?|the customers?'?s?|everyone'?s?|whatever)(?: \w+)? (?:api[ -]?keys|keys|tokens|passwords?|credentials?|secrets|private keys?|cookies|session cookies|session tokens?|ssh keys?|certificates)(?: \w+){{0,3}}|(?:your |the |all |any )*(?:env(?:ironment)? variables|conversation(?: history)?|chat history|session history|system prompt|memory contents?|contents? of (?:the |your )?(?:\.env|memory|~?/\S+|env)|\.env(?: file)?|id_rsa|/etc/(?:passwd|shadow)|~?/\.(?:ssh|aws)\S*))[^!?;]{{0,40}}?(?:\bto\b|\binto\b|\bat\b|\bvia\b|\bon\b)[^!?;]{{0,30}}?(?:\b(?:https?|ftp|wss?):|\bwww\.|@\S+\.\w|\b\d{{1,3}}(?:\.\d{{1,3}}){{3}}|\bwebhook|\bpastebin|\bngrok)", "http", "ftp:", "www.", "@", "webhook", "pastebin", "ngrok", "ws:", "wss:", ".1", ".2", ".3", ".0", view="marked"),
    _rule(Reason.EXFILTRATION, r"\b(?:tokens?|keys?|secrets?|passwords?|cookies?|credentials?)\b[^!?;]{0,60}\bhttps?://[^\s\"'<>]{1,200}[?&]\w{1,30}=(?=[\s\"'.,)]|$)", "http", view="marked"),
    _rule(Reason.EXFILTRATION, r"!\[[^\]]{0,80}\]\(\s?(?:https?:)?//[^)\s]{1,200}[?&/=][^)\s]{0,80}(?:=|/)(?:\{|\$|%7b|<|\[)", "![", view="marked"),
    _rule(Reason.EXFILTRATION, r"(?:\b(?:cat|tar|base64|grep|head|strings|xxd)\b[^|\n]{0,80}(?:\.env\b|\.ssh|id_rsa|\.aws/|/etc/(?:passwd|shadow)|credentials\b|\.kube/config)[^|\n]{0,40}|\b(?:printenv|env|set)\b[^|\n]{0,20})\|[^\n]{0,60}\b(?:curl|wget|nc|ncat|netcat|socat)\b", "|", view="marked"),
    _rule(Reason.EXFILTRATION, r"\b(?:curl|wget|nc|ncat)\b[^\n]{0,160}(?:@|\$\(|`|<)[^\n]{0,40}(?:\.env\b|\.ssh|id_rsa|\.aws/|/etc/(?:passwd|shadow)|\.kube/config|\bprintenv\b)", "curl", "wget", "nc ", "ncat", view="marked"),
    # ---- markup_script: what a browser would run
    _rule(Reason.MARKUP_SCRIPT, r"<script\b[^>]{0,200}\bsrc ?=|<script\b[^>]{0,200}>(?: ?[a-z_$(!][^<]{0,2000}<(?: ?/ ?script)| ?[a-z_$][\w.$]{0,60} ?[(=])", "<script", view="marked"),
    _rule(Reason.MARKUP_SCRIPT, r"<[a-z][^<>]{0,300}[\s/\"']on(?:error|load|click|dblclick|mouse\w{1,8}|focus\w{0,3}|blur|key\w{1,6}|input|change|submit|toggle|begin|end|repeat|animation\w{1,12}|transition\w{1,8}|pointer\w{1,12}|wheel|drag\w{0,6}|drop|copy|cut|paste|message|hashchange|pageshow|beforeunload|unload|resize|scroll|show|start|finish|auxclick|contextmenu|touch\w{1,6}|invalid|search|select\w{0,6}|reset|play\w{0,4}|canplay\w{0,8}|loadstart|loadeddata|progress) ?=", "on", view="marked"),
    _rule(Reason.MARKUP_SCRIPT, r"(?:\]\( ?|(?:href|src|action|formaction|data|xlink:href) ?= ?[\"']? ?)(?:java|vb|live) ?script ?:|\b(?:href|src) ?= ?[\"']? ?data ?: ?text/html|\]\( ?data ?: ?text/html", "script", "data", view="marked"),
    _rule(Reason.MARKUP_SCRIPT, r"<(?:iframe|frame|object|embed|applet|base)\b[^>]{0,300}\b(?:src|srcdoc|data|code|href) ?=", "<iframe", "<frame", "<object", "<embed", "<applet", "<base", view="marked"),
    _rule(Reason.MARKUP_SCRIPT, r"<meta\b[^>]{0,200}http-equiv ?= ?[\"']?refresh|<link\b[^>]{0,200}rel ?= ?[\"']?import|style ?= ?[\"'][^\"']{0,200}(?:expression ?\(|url\( ?[\"']?javascript)", "<meta", "<link", "style", view="marked"),
)  # fmt: skip
