"""The plainest sentences in other languages, a floor below the vectors. No claim of coverage: see the threshold in policy.toml."""

from __future__ import annotations

from detectors.crisis.signal import Signal, signal
from detectors.finding import Level

_LIVE = (
    r"(?:quiero|quisiera|ganas de) morir(?!me de (?:risa|verg))|no quiero (?:vivir|seguir viviendo)|quiero desaparecer",
    r"(?:je )?(?:veux|voudrais|envie de) mourir(?! de rire)|(?:ne )?veux plus vivre|envie d'en finir",
    r"will nicht mehr leben|(?:will|möchte) (?:einfach )?(?:nur noch )?sterben|lebensmüde",
    r"quero morrer|não quero mais viver|quero desaparecer|voglio morire|non voglio più vivere",
    r"죽고\s?싶(?:다|어|은|네|습)|살기\s?싫|사라지고\s?싶",
    r"死にたい|消えたい|生きていたくない|もう生きられない",
    r"хочу умереть|не хочу (?:больше )?жить|хочется умереть",
    r"(?:pengen|ingin|mau) mati(?! gaya)|muốn chết(?! cười)|không muốn sống|ölmek istiyorum|yaşamak istemiyorum",
    r"أريد أن أموت|لا أريد أن أعيش|मरना चाहत|जीना नहीं चाहत|อยากตาย(?!เลย ขำ)|ไม่อยากอยู่แล้ว",
)
_KILL = (
    r"suicidarme|quitarme la vida|matarme|me suicider|mettre fin à mes jours|mich umbringen|selbstmord|me matar|suicidarmi",
    r"자살(?:하고|할|하려)|自殺(?:したい|する|しよう)|покончить с собой|убить себя|bunuh diri|tự tử|intihar et|الانتحار|आत्महत्या|ฆ่าตัวตาย",
)

SIGNALS_OTHER: tuple[Signal, ...] = (
    signal("xx.not_live", Level.PASSIVE_IDEATION, 2, "|".join(_LIVE)),
    signal("xx.kill_self", Level.ACTIVE_IDEATION, 2, "|".join(_KILL)),
)
