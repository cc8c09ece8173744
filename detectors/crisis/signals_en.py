"""What an English text says outright. Written for the normal form in lower case."""

from __future__ import annotations

from detectors.crisis.signal import Signal, signal
from detectors.finding import Level

_WANT = r"(?:want(?:ed)?|wanna|wish|need|ready|rather|prefer|like|trying|going|gonna|about|planning|plan|decided|thinking|think|thought|thoughts|urge|urges)"
_LIFE = r"(?:my|this|the|own)?\s?(?:own |whole |stupid |miserable )?life"
_BEING = r"(?:be here|exist|be alive|live|wake up|be around|go on|carry on|keep going|be on this earth|do this anymore|do life|continue living|keep living)"
_PET = (
    r"(?:cat|dog|kids?|baby|children|plants?|fish|mum|mom|dad|parents|brother|sister|her|him|them|everything)"
)

SIGNALS_EN: tuple[Signal, ...] = (
    signal(
        "en.not_live",
        Level.PASSIVE_IDEATION,
        2,
        r"(?:don'?t|do not|didn'?t|never|no longer|not) (?:really |even |particularly )?(?:want|wanna|wish|feel like|care) (?:to |that i )?(?:really |even )?(?:be here|exist|be alive|live|wake up|be around|go on|carry on|keep going|continue living|keep living|be on this earth)(?! in (?:a|this|that|the)\b| with\b| here in)|don'?t wanna "
        + _BEING
        + r"|(?:can'?t|cannot|can not) (?:go on|live|keep living|carry on living)(?! without (?:my|a|the) (?:phone|coffee|car|tea))|no (?:point|reason) (?:in |to )?(?:living|live|being alive|going on|carry on|stay alive|be here)|nothing (?:left )?to live for|tired of (?:living|life|being alive|existing)|done with (?:life|living|existing)|not worth living",
    ),
    signal(
        "en.want_dead",
        Level.PASSIVE_IDEATION,
        2,
        r"(?:want|wanna|ready|rather|prefer|like|need|deserve|hoping|hope|praying|pray|wish(?:ed)?)(?: i| to| could| i could| just| really| that i| i'd)* (?:die|be dead|just die|was dead|were dead|drop dead|died|stop existing|not exist|disappear|vanish|cease to exist|never wake|be gone)(?! (?:of|for a (?:while|week|bit)))|better off dead|wish i (?:was|were|had) (?:never|not) (?:born|here|alive)|wish i was never born|if i (?:died|was dead|were dead|wasn'?t here|weren'?t here|disappeared|didn'?t wake)",
    ),
    signal(
        "en.not_wake",
        Level.PASSIVE_IDEATION,
        2,
        r"(?:not|never|n'?t|without|stop) (?:wake|waking) up|fall asleep and (?:not|never)|sleep (?:and not|and never|forever)|go to sleep and",
    ),
    signal(
        "en.burden",
        Level.PASSIVE_IDEATION,
        1,
        r"better (?:off )?without me|(?:i'?m|i am|being) (?:just |only |such )?a burden|nobody would (?:miss|notice|care)|no one would (?:miss|notice|care)|if i (?:was|were) gone",
    ),
    signal(
        "en.cannot_go_on",
        Level.PASSIVE_IDEATION,
        1,
        r"can'?t (?:do this|take (?:it|this)|keep going|keep doing this|cope|carry on|hold on)(?: any ?more| any longer)?|(?:want|need) (?:it|this|everything|the pain) (?:all )?to (?:stop|end|be over)|want out|i give up|no way out|what'?s the point|end it all|make it stop|relief (?:to|if)|would be a relief",
    ),
    signal(
        "en.kill_self",
        Level.ACTIVE_IDEATION,
        2,
        r"kill(?:ing)? my ?self|(?:please|someone|just) kill me\b|^kill me\b(?! now l)|\bkms\b|tak(?:e|ing) my (?:own )?life|end(?:ing)? (?:my(?:self)?|it all|my own) ?(?:life)?|end(?:ing)? my life|finish my life|commit(?:ting)? suicide|\bsuicidal\b|"
        + _WANT
        + r"[^.!?,]{0,25}suicide|suicid(?:e|al) (?:thoughts?|ideation|urges?|feelings|plan)|thoughts? of (?:suicide|killing|ending)|think(?:ing)? (?:about|of) suicide|off(?:ing)? myself|do away with myself|self[- ]delete",
    ),
    signal("en.topic_suicide", Level.ACTIVE_IDEATION, 1, r"suicid\w*"),
    signal(
        "en.self_harm",
        Level.SELF_HARM,
        2,
        r"(?:hurt(?:ing)?|harm(?:ing|ed)?|punish(?:ed|ing)?|wound(?:ed|ing)?|hit(?:ting)?) (?:my ?self|my own|my (?:arms?|legs?|skin|body))|self[- ]?harm\w*|\b(?:relapsed|clean)\b[^.!?]{0,20}\bsh\b|make myself (?:feel pain|hurt)|pain on purpose",
    ),
    signal(
        "en.decided",
        Level.PLAN_INTENT,
        2,
        r"(?:decided|going|gonna|plan(?:ning|ned)?|set|chosen|picked) (?:to |on )?(?:end|kill|die|do it|go through with it)[^.!?]{0,25}(?:tonight|tomorrow|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday|this week|life)|i have a (?:plan|date)(?! (?:for|with|to)\b)|(?:picked|chosen|set) (?:a|the|my) (?:day|date|night)|(?:tonight|tomorrow) (?:is the night|i (?:die|end)|it ends)|won'?t be (?:here|alive|around) (?:by|after|tomorrow|next|on|much longer)|not (?:going to|gonna) be (?:here|alive|around) (?:by|after|tomorrow|next|on|much longer)",
    ),
    signal(
        "en.last_letter",
        Level.PREPARATION,
        2,
        r"suicide note|(?:wrote|written|writing|finished|left)(?: \w+){0,2} (?:goodbye|letters?|notes?)(?: to (?:everyone|my|mum|mom|dad|the kids|each|them)| for (?:everyone|my|mum|mom|dad|the kids|each|them)|\b(?=[.!?]|$))|goodbye (?:letters?|notes?|world|forever|everyone)|last (?:goodbye|letter|message|words)|already wrote the letters|letters are (?:written|done|sealed)|put my affairs in order|(?:paid|planned|arranged) (?:for )?my (?:own )?funeral",
    ),
    signal(
        "en.farewell",
        Level.PREPARATION,
        2,
        r"won'?t (?:be )?(?:hear|hearing|see|seeing|talk|bother)(?:ing)? (?:from )?(?:me|you|anyone)(?: again| after| anymore)|before i go\b(?! to)|when i'?m gone|after i'?m gone|(?:look after|take care of|feed|mind) (?:my |the )?"
        + _PET
        + r"(?: for me| when i| after i| please)|won'?t be needing|this is goodbye|tell (?:my )?(?:mum|mom|dad|her|him|them|everyone|kids?) (?:i'?m )?(?:sorry|i love|i loved)|(?:gave|giving|given) (?:away )?(?:all )?my (?:things|stuff|clothes|records|books) away|giving (?:everything|my things) away",
    ),
    signal(
        "en.thanks_bye",
        Level.PREPARATION,
        1,
        r"(?:thank(?:s| you)|sorry)[^.!?]{0,40}(?:goodbye|good bye|take care of)|thanks? (?:you )?for everything|goodbye\b|last time",
    ),
    signal(
        "en.under_way",
        Level.IN_PROGRESS,
        2,
        r"(?:i(?:'ve| have)?|it'?s) (?:already |just |now )?(?:did it|done it|done something|started|begun)\b(?! (?:my|the|a|again|off|on|up|out|down|over|into|with))|too late[^.!?]{0,15}(?:done|did|started|stop)|(?:doing it|ending it|dying) (?:right )?now|(?:don'?t|not) (?:try to )?(?:save|stop) me|it'?s (?:started|happening)|minutes (?:now|left)|getting sleepy now",
    ),
    signal(
        "en.harm_others",
        Level.HARM_TO_OTHERS,
        2,
        r"(?:going to|gonna|want to|wanna|will|i'?ll|plan(?:ning)? to|need to|have to|ready to|about to|let me) (?:\w+ )?(?:kill|murder|hurt|shoot|stab|beat|strangle|end|destroy|attack) (?:him|her|them|everyone|every|you|people|somebody|someone|my (?:wife|husband|boss|dad|mum|mom|brother|sister|ex|baby|kids?|son|daughter|teacher|landlord|neighbou?r)|the (?:baby|kids?|man|guy|bastard)|that)|make (?:him|her|them) pay|take (?:him|her|them|everyone) with me|they'?ll all (?:see|pay|be sorry)|(?:won'?t|not) (?:wake up|walk|get up|make it) (?:out|tomorrow|again)",
    ),
)
