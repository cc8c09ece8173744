"""The real model: how close int8 is to float32, and that a row depends on nothing but its text."""

from __future__ import annotations

import numpy as np
import pytest

from detectors.encoder import Prepared, load_engine
from detectors.ports import Encoder

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("encoder")]

SENTENCES = [
    "I had soup for lunch and it was too salty.",
    "Could you help me plan a birthday party for my sister?",
    "The bus was late again, so I walked.",
    "My exam is on Friday and I have not opened the book yet.",
    "We adopted a cat last week and she sleeps on my keyboard.",
    "ok",
    "Thanks, that helped a lot!",
    "Work was long today, but the walk home was quiet and the air smelled of rain.",
    "What is the difference between a violin and a viola?",
    "lol no way 😂😂",
    "今天中午的汤太咸了。",
    "我下周要搬家，还没有开始收拾。",
    "你能帮我想一个生日礼物吗？",
    "最近工作有点忙，不过周末打算去爬山。",
    "谢谢你，我感觉好多了。",
    "公司楼下新开了一家面馆，味道不错。",
    "嗯嗯",
    "考试考完了，终于可以好好睡一觉！",
    "我妈妈总是问我什么时候回家吃饭。",
    "下雨天最适合在家看书听音乐。",
    "公車又遲到了，我只好走路去學校。",
    "我家的貓喜歡睡在鍵盤上。",
    "El tren llega a las ocho de la mañana.",
    "Mi abuela hace el mejor pan del pueblo.",
    "Le chat dort sur le canapé depuis ce matin.",
    "Nous allons au marché acheter des pommes.",
    "Ich habe morgen eine Prüfung und bin ein bisschen nervös.",
    "Der Garten ist voller Tomaten.",
    "今日は天気がいいので、公園まで散歩に行きます。",
    "新しい仕事に少しずつ慣れてきました。",
    "오늘 친구와 영화를 보고 저녁을 먹었어요.",
    "주말에 비가 와서 집에서 책을 읽었어요.",
    "Сегодня идёт снег, и дети играют во дворе.",
    "Я забыл купить молоко по дороге домой.",
    "صباح الخير، كيف كان يومك في المدرسة؟",
    "आज मौसम बहुत अच्छा है।",
    "Bugün hava çok güzel, yürüyüşe çıkalım.",
    "Hôm nay tôi nấu phở cho cả nhà.",
    "Ontem fomos à praia e comemos peixe.",
    "Domani vado a trovare i miei nonni in campagna.",
]
ODD = ["", " ", "\0", "\ud83d", "a\udc00b\0c", "</s>", "\u200b\u200b", "🙂" * 50, "\ufdfa" * 600]


@pytest.fixture(scope="module")
def reference(prepared: Prepared) -> Encoder:
    return load_engine("fp32", prepared)


def test_int8_is_close_to_float32(engine: Encoder, reference: Encoder) -> None:
    cosines = (engine.encode(SENTENCES) * reference.encode(SENTENCES)).sum(axis=1)
    assert cosines.min() >= 0.99
    assert cosines.mean() >= 0.995


def test_neighbours_in_meaning_are_neighbours_in_space(engine: Encoder) -> None:
    soup, bus, cat, salty, late, keyboard = engine.encode(
        [SENTENCES[0], SENTENCES[2], SENTENCES[4], SENTENCES[10], SENTENCES[20], SENTENCES[21]]
    )
    nearest = (np.stack([soup, bus, cat]) @ np.stack([salty, late, keyboard]).T).argmax(axis=1)
    assert nearest.tolist() == [0, 1, 2]


def test_rows_are_float32_of_length_one(engine: Encoder) -> None:
    rows = engine.encode(SENTENCES[:5])
    assert engine.dimension == 384
    assert rows.shape == (5, 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("kind", ["engine", "reference"])
def test_a_row_has_the_same_bits_whatever_its_mates(kind: str, request: pytest.FixtureRequest) -> None:
    encoder = request.getfixturevalue(kind)
    texts = [*SENTENCES[8:14], "a much longer neighbour " * 10]
    together = encoder.encode(texts)
    assert np.array_equal(encoder.encode(texts[::-1])[::-1], together)
    assert np.array_equal(np.concatenate([encoder.encode([text]) for text in texts]), together)
    doubled = encoder.encode([texts[3], *texts, texts[3]])
    assert np.array_equal(doubled[0], together[3])
    assert np.array_equal(doubled[-1], together[3])


def test_lanes_threads_and_memory_change_no_bit(prepared: Prepared, engine: Encoder) -> None:
    expected = engine.encode(SENTENCES)
    assert np.array_equal(load_engine("int8", prepared, lanes=2).encode(SENTENCES), expected)
    assert np.array_equal(load_engine("int8", prepared, threads=2).encode(SENTENCES), expected)
    remembering = load_engine("int8", prepared, remembered=len(SENTENCES))
    assert np.array_equal(remembering.encode(SENTENCES), expected)
    assert np.array_equal(remembering.encode(SENTENCES[::-1])[::-1], expected)


@pytest.mark.parametrize("kind", ["engine", "reference"])
def test_odd_texts_give_finite_unit_rows(kind: str, request: pytest.FixtureRequest) -> None:
    rows = request.getfixturevalue(kind).encode(ODD)
    assert np.isfinite(rows).all()
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_what_lies_past_the_limit_is_cut(engine: Encoder) -> None:
    long = "rain and wind " * 400
    first, second = engine.encode([long, long + "a cat"])
    assert np.array_equal(first, second)
