"""Groups of words that several phrase books share."""

from __future__ import annotations

from collections.abc import Mapping

_PERSON_ZH = (
    "大人|家人|家里(?:的?人|[^,]{0,4}大人|一个人)|家属|长辈|亲人|亲戚|亲友|亲属|家长|监护人|朋友|闺蜜|哥们|姐们|兄弟|好友|同学|同事|室友|舍友"
    "|老师|班主任|辅导员|导员|宿管|导师|爸|妈|父母|父亲|母亲|孩子爸|儿子|女儿|孩子|儿女|老公|老婆|丈夫|妻子|先生|太太|配偶|伴侣|爱人|对象"
    "|男朋友|女朋友|哥哥?|姐姐?|弟弟?|妹妹?|姑|姨|舅|叔|伯|爷爷|奶奶|外公|外婆|邻居|老乡|战友|学生|工友|姐妹|真人|身边的?人|有人|谁能|谁在"
    "|信(?:得过|任|得着)_人|人(?:来|过来|陪|守)|能[^,]{0,10}的人|一个[^,]{0,8}的人|那个人|(?:亲近|熟悉|放心|靠得住|可靠|要好|活|真|旁边)的?人|活人|值班的?|医护|护工|老板|队长|组长|教练|网格员|书记|社工|护士|上司|领导|师傅|房东|保安"
)
_CARE_ZH = (
    "医生|大夫|医院|门诊|急诊|急救|救护车|诊所|心理(?:科|老师|咨询|医生|中心|热线|援助|门诊|辅导|治疗)|精神科|心身科|身心科|校医|医务室"
    "|咨询师|咨询中心|治疗师|热线|社区|居委会|警察|民警|警方|派出所|报警|辅导中心|学生中心|专业(?:人士|人员|的人|机构|帮助)|求助电话|紧急电话|妇联|前台"
)
_PERSON_EN = (
    "friends?|family|mum|mums|mom|mother|dad|father|parents?|sister|brother|sibling|aunt(?:ie)?|uncle|gran|grandma|grandmother"
    "|grandpa|husband|wife|partner|girlfriend|boyfriend|spouse|flatmates?|room-?mates?|housemates?|neighbou?rs?|teacher|tutor|coach"
    "|colleagues?|co-?workers?|boss|manager|minister|pastor|priest|imam|rabbi|vicar|someone|somebody|anyone|one person|a person|another person"
    "|real person|living person|human being|a human|an adult|adults?|grown-?ups?|buddy|mates?|pal|daughter|son|cousin|landlord|warden|supervisor|people"
)
_CARE_EN = (
    "counsel+ors?|doctors?|dr|gps?|nurses?|therapists?|midwife|health visitor|social worker|psychiatrists?|psychologists?|physician|clinicians?"
    "|clinic|ward|hospital|a&e|emergency (?:room|department|services?|number|line)|urgent care|crisis (?:line|service|team|centre|center|text line)"
    "|help-?lines?|hotlines?|lifeline|samaritans|ambulance|police|paramedics?|mental health (?:professional|service|team)s?|professionals?|student services"
    "|counsel+ing (?:centre|center|service)|wellbeing team|support line|warm ?line|vet center|dispatcher|shelter"
)

VOCABULARY: Mapping[str, str] = {
    "person_zh": _PERSON_ZH,
    "care_zh": _CARE_ZH,
    "person_en": _PERSON_EN,
    "care_en": _CARE_EN,
    "ai_zh": r"(?:[a-z]{0,4}ai|人工智能|机器人?|程序|软件|工具|语言模型|大?模型|虚拟|智能助手|聊天)",
    "ai_en": r"(?:ai|a\.i\.|artificial intelligence|bot|chat ?bot|program(?:me)?|machine|computer|software|app|language model|algorithm|automated|assistant|virtual)",
    "death_zh": (
        r"(?:自杀|轻生|自尽|寻死|想到死|想死|去死|要死|死的|死了|不想活|活不下去|不活了|不在了|活着没|结束(?:自己)?(?:的)?(?:生命|一切|人生|自己)|了结|离开(?:人世|这个世界|这世界|人间)"
        r"|伤害自己|弄伤自己|自伤|自残|自我伤害|走绝路|走这一步|走那一步|zs|紫砂|想不开|做傻事|寻短见|自毁)"
    ),
    "death_en": (
        r"(?:suicid\w*|kill(?:ing)? (?:yourself|himself|herself|themselves|themself)|end(?:ing)? (?:your|his|her|their|it|my) (?:own )?(?:life|lives|all)|ending it"
        r"|tak(?:e|ing) your (?:own )?life|d(?:ie|ying)|be(?:ing)? dead|were dead|not (?:be|being) (?:alive|here)|weren't alive|wish(?:ing)? you weren't"
        r"|hurt(?:ing)? (?:yourself|himself|herself|themselves)|harm(?:ing)? (?:yourself|himself|herself|themselves)|self-?harm\w*|self-?injury|unalive|acting on it|act on (?:it|them|this|that))"
    ),
    "pain_zh": (
        "累|疲惫|疲倦|乏|疼|痛|孤单|孤独|孤零零|寂寞|绝望|无望|委屈|难受|难过|难捱|难熬|自责|内疚|愧|冷清|灰心|心灰|心凉|凉透|寒心|害怕|恐惧|怕|慌|羞耻|羞愧|丢脸|难堪|憋屈|憋"
        "|恨|愤怒|气|火|想念|思念|舍不得|无助|无力|心酸|酸|沉|重|压|煎熬|崩溃|撑不住|撑不下|苦|堵|麻木|麻|空|辛苦|悲|伤心|心碎|屈辱|不安|焦虑|紧绷|绷|耗|熬|心疼|吓坏|担心|失望|挫败|烦|急|恼|乱|虚|凉|扛"
    ),
    "pain_en": (
        r"lonel\w*|alone|exhaust\w*|worn(?: out| down| thin| through)?|tired|weary|drain\w*|hurts?|hurting|pain\w*|agon\w*|scar(?:ed|y)|frighten\w*|terrif\w*|afraid|fear|asham\w*|shame"
        r"|grie(?:f|v\w+)|sad(?:ness)?|rage|fur(?:y|ious)|ang(?:er|ry)|heav(?:y|ier|iness)|crush\w*|devastat\w*|despera\w*|hopeless\w*|numb\w*|overwhelm\w*|awful|unbearabl\w*|humiliat\w*"
        r"|guilt\w*|despair|bleak|misera\w*|misery|heartbr\w+|broken|lost|trapped|cold|weight|stuck|betray\w*|bitter\w*|dread|panic\w*|stress\w*|frazzled|anxious|anxiety|worried|nerves|nervous|empty|emptiness|isolat\w*|torment\w*|suffer\w*|horrib\w*|horrific|rough|hard|tough|wearing|bereave\w*|burning"
    ),
}
