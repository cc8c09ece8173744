"""Which language a text is in: by script first, by statistics only among Latin-script languages."""

from __future__ import annotations

import re
from functools import cache

from lingua import Language, LanguageDetector, LanguageDetectorBuilder

UNDETERMINED = "und"
_SAMPLE = 2000  # characters looked at; a language does not change its script later on
WORDLESS = re.compile(r"[\W\d_]*")  # full match: digits, signs, emoji only

_SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff\u0750-\u077f]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("bn", re.compile(r"[\u0980-\u09ff]")),
    ("ta", re.compile(r"[\u0b80-\u0bff]")),
    ("my", re.compile(r"[\u1000-\u109f]")),
    ("km", re.compile(r"[\u1780-\u17ff]")),
    ("ka", re.compile(r"[\u10a0-\u10ff]")),
    ("am", re.compile(r"[\u1200-\u137f]")),
)
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff']+")
_LATIN_LANGUAGES = (
    Language.ENGLISH,
    Language.SPANISH,
    Language.FRENCH,
    Language.GERMAN,
    Language.PORTUGUESE,
    Language.ITALIAN,
    Language.INDONESIAN,
    Language.VIETNAMESE,
    Language.TURKISH,
    Language.DUTCH,
    Language.TAGALOG,
    Language.POLISH,
)
# statistics fail on chat English ("so tired lol"); its small words do not
_ENGLISH_WORDS = """
    i i'm im ive i've i'd ill i'll me my myself mine you your u ur he she it its it's we they them this that these those
    the a an and or but if so because cuz bc when what who how why where there here not no don't dont can't cant won't
    wont didn't doesn't isn't wasn't is am are was were be been being do does did done have has had having will would
    could should can may might must to of in on at by for from with without about into over after before out up down
    off just really very too much more most only even still never always ever again now today tonight tomorrow
    yesterday day night week year years life live die dead death kill want wanna need feel feeling felt think thought
    know say said tell told get got go going gonna went come came make made see want keep let like love hate hurt
    sad tired alone lonely scared angry happy fine ok okay bad good better worse everyone everything nothing nobody
    someone something anything anymore people friend mum mom dad help please sorry thanks thank bye goodbye yes yeah
    dey abeg wan wahala suicide suicidal unalive kms lol haha tbh idk ngl kms hello hi hey any all some one two been than then as while until till my his her our their
    """
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_SHARED_WORDS = """
    i me he a an and so am is are was die do does on in of at by to no not will want man over all one as her kind
    hi hello ok okay bin hat live
    """
_SHARED = frozenset(_SHARED_WORDS.split())  # written in other languages too
_ENGLISH_SHARE = 0.45
_ENGLISH_HINT = 0.25
_SURE = 0.75
_VERY_SURE = 0.9  # for two words
_CERTAIN = 0.97
_WORDS_ENOUGH = 3
_MIXED_SHARE = 0.12  # Han characters among letters, from which a mixed text is Chinese


@cache
def _detector() -> LanguageDetector:
    return LanguageDetectorBuilder.from_languages(*_LATIN_LANGUAGES).with_low_accuracy_mode().build()


def primary(tag: str | None) -> str:
    """The language of a producer's tag: BCP 47, or as telephones write their locale (``en_US``)."""
    return re.split("[-_]", tag or UNDETERMINED, maxsplit=1)[0].lower() or UNDETERMINED


def detect_language(text: str) -> str:
    """BCP 47 primary tag, or ``und`` where the text holds too little of any language."""
    sample = text[:_SAMPLE]
    latin = len(_LATIN.findall(sample))
    counts = {tag: len(pattern.findall(sample)) for tag, pattern in _SCRIPTS}
    best = max(counts, key=lambda tag: counts[tag])
    if counts["ja"] and counts["ja"] * 6 >= counts["zh"]:
        best = "ja"  # kana is never Chinese; one の in a Chinese sentence is fashion
    if counts[best] and counts[best] >= _MIXED_SHARE * (counts[best] + latin):
        return best
    words = _LATIN_WORD.findall(sample.lower())
    if not words:
        return UNDETERMINED
    share = sum(word in _ENGLISH for word in words) / len(words)
    if share >= _ENGLISH_SHARE:
        return "en"
    ranked = _detector().compute_language_confidence_values(sample)
    if len(words) < _WORDS_ENOUGH:
        english = len(words) > 1 and ranked[0].language == Language.ENGLISH and ranked[0].value >= _SURE
        alone = english or (len(words) > 1 and share == 0 and ranked[0].value >= _VERY_SURE)
        return str(ranked[0].language.iso_code_639_1.name.lower()) if alone else UNDETERMINED
    # the detector makes its languages anew for each answer: compared by value, never by identity
    foreign = ranked[0].language != Language.ENGLISH
    only_english = any(word in _ENGLISH - _SHARED for word in words)
    if foreign and only_english and share >= _ENGLISH_HINT and ranked[0].value < _CERTAIN:
        return "en"  # "my dog ate my sandwich" is German to the statistics
    if ranked[0].value >= _SURE or (ranked[0].language == Language.ENGLISH and ranked[0].value > 0.4):
        return str(ranked[0].language.iso_code_639_1.name.lower())
    return "en" if share >= _ENGLISH_HINT else UNDETERMINED
