"""The same attacks in other languages, accents taken off: German, Spanish, French, Portuguese, Italian, Dutch, Russian,
Chinese, Japanese and Korean."""

from __future__ import annotations

from tributary.models.screens.rules import GAP, Reason, Rule, rule


def _override(reject: str, told: str, earlier: str, *, view: str = "words") -> Rule:
    """Rejecting what was told earlier, with the two in either order after the verb, or before it."""
    both = rf"(?:\b{earlier}\b{GAP}\b{told}\b|\b{told}\b{GAP}\b{earlier}\b)"
    return rule(Reason.OVERRIDE, rf"\b{reject}\b{GAP}{both}|{both}{GAP}\b{reject}\b", view=view)


TONGUES: tuple[Rule, ...] = (
    _override(
        r"(?:ignorier\w*|missacht\w*|vergiss|vergesst|vergessen sie|verwirf|verwerfen sie|uberschreib\w*|ubergeh\w*|"
        r"setz\w* (?:dich|sie sich|euch) uber|"
        r"halt\w* (?:dich|sie sich|euch) nicht (?:mehr |langer |weiter )?an|hor\w* auf|"
        r"(?:beachte|befolge|folge)\w* (?:nicht|keine\w*))",
        r"(?:anweisung\w*|instruktion\w*|befehl\w*|vorgabe\w*|anordnung\w*|richtlinie\w*|prompt\w*|aufforderung\w*|regel\w*)",
        r"(?:vorherig\w*|bisherig\w*|vorig\w*|vorangegangen\w*|vorhergehend\w*|obig\w*|oben|zuvor|fruher\w*|ursprunglich\w*|dein\w*|"
        r"gegeben\w*|die (?:du|sie|man)|erhalten\w*|bekommen\w*)",
    ),
    rule(
        Reason.OVERRIDE,
        r"\b(?:befolg|beacht|folg)\w*\b[^.!?;]{0,20}\b(?:vorherig|bisherig|obig|fruher|dein|ihr)\w*\b[^.!?;]{0,20}"
        r"\b(?:anweisung|instruktion|befehl|vorgabe|regel|richtlinie)\w*\b[^.!?;]{0,12}\bnicht\b",
    ),
    rule(
        Reason.OVERRIDE,
        r"\b(?:vergiss|vergessen sie|ignorier\w*) (?:einfach )?(?:alles|das) (?:vorherige|bisherige|obige|zuvor|davor|vorige)\b"
        r"|\b(?:olvid|ignor)\w* todo lo (?:anterior|previo)\b|\b(?:oubli|ignor)\w* tout ce qui (?:precede|est au-dessus)\b"
        r"|\b(?:esquec|ignor|desconsider)\w* tudo (?:o que (?:foi dito|veio) )?(?:acima|antes|anterior)\b"
        r"|\b(?:dimentic|ignor)\w* (?:tutto )?(?:quanto sopra|cio che precede|quello che precede)\b",
    ),
    # Forget all that you were told.
    rule(
        Reason.OVERRIDE,
        r"\b(?:vergiss|vergesst|vergessen sie|ignorier\w*|missacht\w*) (?:einfach |bitte )?(?:alles|das|all das),? was "
        r"(?:dir|ihnen|euch|du|sie|man|ich|wir|bisher|zuvor|vorher)\b"
        r"|\b(?:olvid|ignor)\w* (?:todo )?lo que (?:te|le|os|se te|has|hayas)\b"
        r"|\b(?:oubli|ignor)\w* (?:tout )?ce (?:que l on|qu on|que tu|que vous|qui) (?:t|te|vous|a|as|avez|ont|precede)\b"
        r"|\b(?:esquec|ignor|desconsider)\w* (?:tudo )?o que (?:te|lhe|voce|foi|disseram)\b"
        r"|\b(?:dimentic|ignor)\w* (?:tutto )?(?:cio|quello|quanto) che (?:ti|vi|le|hai|e stato|sai)\b",
        hints="was |que |qu on|che ",
    ),
    rule(
        Reason.OVERRIDE,
        r"(?:забуд|игнорир)\w* вс[ея],? (?:что|о чем) (?:тебе|вам|ты|вы|было)"
        r"|(?:忘记|忘掉|忽略)[^。！？；]{0,6}(?:之前|先前|你)[^。！？；]{0,8}(?:一切|所有|被告知|学到|说过)"
        r"|(?:今まで|これまで|以前)[^。！？]{0,8}(?:言われ|教えられ|聞い)[^。！？]{0,8}(?:忘れ|無視)",
        view="native",
    ),
    rule(Reason.OVERRIDE, r"(?:забуд|игнорир)\w* вс[ея] (?:вышесказанн|предыдущ|сказанн|что было)", view="native"),
    _override(
        r"(?:ignor\w*|olvid\w*|desestim\w*|descart\w*|haz caso omiso|haga caso omiso|"
        r"no (?:sigas|siga|obedezcas|hagas caso|tengas en cuenta|respetes)|"
        r"deja\w* de (?:seguir|obedecer|respetar|cumplir))",
        r"(?:instruccion\w*|indicacion\w*|orden\w*|directric\w*|directiva\w*|reglas?|prompts?|mensajes?)",
        r"(?:anterior\w*|previ[ao]s?|precedent\w*|de arriba|arriba|iniciales?|originales?|recibi\w*|tus|"
        r"que (?:te|le) (?:dieron|han dado|dio|dimos)|dadas?)",
    ),
    _override(
        r"(?:ignor\w*|oubli\w*|neglig\w*|ne (?:tiens|tenez) (?:pas|plus|aucun) compte|fai(?:s|tes) abstraction|"
        r"ne (?:suiv\w*|suis|respect\w*) (?:pas|plus)|cesse\w* de (?:suivre|respecter|obeir)|"
        r"n obei\w* (?:plus|pas)|passe outre|contourn\w*)",
        r"(?:instructions?|consignes?|directives?|ordres?|regles?|prompts?|indications?|commandes?)",
        r"(?:precedent\w*|anterieur\w*|ci-dessus|ci dessus|prealable\w*|initial\w*|d origine|recues?|tes|vos|donnees)",
    ),
    _override(
        r"(?:ignor\w*|esquec\w*|desconsider\w*|desprez\w*|descart\w*|nao (?:siga|obedeca|respeite|leve em conta)|"
        r"(?:deixe|pare) de (?:seguir|obedecer|respeitar))",
        r"(?:instruc\w*|orden\w*|diretriz\w*|diretiva\w*|regras?|comandos?|prompts?|indicac\w*|orientac\w*)",
        r"(?:anterior\w*|previ[ao]s?|precedent\w*|acima|iniciais|originais|receb\w*|antes|suas|"
        r"que (?:te|lhe) (?:deram|foram dadas)|dadas)",
    ),
    _override(
        r"(?:ignor\w*|dimentic\w*|tralasci\w*|trascur\w*|scart\w*|non (?:considerare|seguire|tenere conto|rispettare|obbedire)|"
        r"smett\w* di (?:seguire|rispettare|obbedire))",
        r"(?:istruzion\w*|indicazion\w*|direttiv\w*|ordini|ordine|regol\w*|prompt|comandi|comando)",
        r"(?:precedent\w*|precedenza|anterior\w*|sopra|prima|inizial\w*|originari\w*|ricevut\w*|tue|"
        r"che (?:ti|vi|le) (?:sono stat|hanno|abbiamo)\w*|dat[ei])",
    ),
    _override(
        r"(?:negeer|negeren|vergeet|vergeten|sla over)",
        r"(?:instructies?|opdrachten|opdracht|aanwijzingen|regels|prompts?)",
        r"(?:vorige|eerdere|voorgaande|bovenstaande|alle|jouw|je)",
    ),
    _override(
        r"(?:(?:про)?игнорир\w*|забуд\w*|забыть|отбрось\w*|отмени\w*|не (?:следуи\w*|выполняи\w*|обращаи\w*|соблюдаи\w*)|"
        r"перестан\w* (?:следовать|выполнять|соблюдать))",
        r"(?:инструкц\w*|указани\w*|команд\w*|правил\w*|распоряжени\w*|промпт\w*|директив\w*)",
        r"(?:предыдущ\w*|прежн\w*|прошл\w*|вышеуказанн\w*|вышестоящ\w*|ранее|выше|свои\w*|данн\w*|полученн\w*|все|всех)",
        view="native",
    ),
    rule(
        Reason.OVERRIDE,
        r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要理會|不理会|不要遵守|不要遵循|不再遵守|不再遵循|别再遵守|别管|抛弃|丢弃)[^。！？；]{0,12}"
        r"(?:之前|先前|以上|上述|前面|此前|上面|所有|全部|一切|原有|你的|您的)[^。！？；]{0,10}"
        r"(?:指令|指示|提示|说明|說明|规则|規則|命令|要求|设定|設定)",
        view="native",
    ),
    rule(
        Reason.OVERRIDE,
        r"(?:以前|前|これまで|今まで|上記|上|先|先ほど|すべて|全て|元)[^。！？]{0,8}"
        r"(?:指示|命令|プロンプト|ルール|指令|説明|規則|設定)[^。！？]{0,10}(?:無視|忘れ|従わ|破棄|捨て)",
        view="native",
    ),
    rule(
        Reason.OVERRIDE,
        r"(?:이전|위의|앞의|모든|기존|지금까지)[^.!?]{0,12}(?:지시|명령|프롬프트|지침|규칙|설명)[^.!?]{0,8}(?:무시|잊|따르지)",
        view="native",
    ),
    # ---- another self
    rule(
        Reason.ROLE_HIJACK,
        r"\b(?:du bist (?:jetzt|nun|ab sofort|ab jetzt)|sie sind (?:jetzt|nun|ab sofort)) (?:ein|eine|der|die|im|kein)\b"
        r"|\b(?:ahora eres|a partir de ahora eres|actua como si)\b"
        r"|\btu es (?:maintenant|desormais|dorenavant) (?:un|une|le|la|en)\b"
        r"|\bvous etes (?:maintenant|desormais) (?:un|une|le|la|en) (?:\w+ )?(?:assistant|ia|modele|agent|administrateur)\b"
        r"|\b(?:agora voce e|voce agora e|a partir de agora voce)\b"
        r"|\b(?:ora sei|adesso sei|d ora in poi sei) (?:un|uno|una|il|in)\b",
    ),
    rule(
        Reason.ROLE_HIJACK,
        r"(?:теперь ты|ты теперь|отныне ты)|(?:你现在是|从现在起你|你現在是)|(?:あなたは今から|これからあなたは|今からあなたは)",
        view="native",
    ),
    # ---- whoever reads this
    rule(
        Reason.READER_HIJACK,
        r"\b(?:jede[rs]?|alle|welche[rs]?) (?:\w+ )?(?:agent\w*|ki\w*|assistent\w*|modell\w*)\b[^.!?;]{0,20}"
        r"\b(?:dies|das hier|diese\w*)\b"
        r"[^.!?;]{0,20}\b(?:lies\w*|lesen|abruf\w*)\b"
        r"|\b(?:cualquier|todo|cada) (?:agente|asistente|modelo|ia) que (?:lea|lee|recupere)\b"
        r"|\b(?:tout|chaque) (?:agent|assistant|modele|ia) qui (?:lit|lira|recupere)\b"
        r"|\b(?:qualquer|todo|cada) (?:agente|assistente|modelo|ia) que (?:ler|leia|le|recuperar)\b"
        r"|\b(?:qualsiasi|ogni) (?:agente|assistente|modello|ia) che (?:legge|legga|leggera)\b",
    ),
    rule(
        Reason.READER_HIJACK,
        r"(?:любои|каждыи|всякии) (?:агент|ассистент|бот)\w*,? (?:которыи )?(?:читающ|прочит|чита)\w*"
        r"|(?:任何|所有|每个)[^。]{0,4}(?:阅读|读到|看到|讀取)[^。]{0,6}(?:代理|智能体|助手|模型|ai)"
        r"|これを読[^。]{0,8}(?:エージェント|アシスタント|モデル|ai)",
        view="native",
    ),
)
