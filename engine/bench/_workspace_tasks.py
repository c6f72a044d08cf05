"""Tasks of the workspace measurements, drawn from a seed: nothing is fetched, and answers are scored by their exact strings.

Prose comes from the Python language reference that is part of Python itself, facts and sessions are made up here.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

THINGS = (
    "garden gate", "wine cellar", "boat house", "north tower", "music room", "tool shed", "attic door", "ice house", "old mill",
    "map room", "lamp store", "clock tower", "bell loft", "herb room", "stone barn", "glass house", "horse yard", "paint shop",
    "grain store", "book vault",
)  # fmt: skip
NAMES = ("Anna", "Boris", "Clara", "David", "Elena", "Felix", "Greta", "Henry", "Irene", "Jonas", "Karin", "Louis", "Maria", "Niels")
CITIES = ("Lisbon", "Oslo", "Vienna", "Dublin", "Madrid", "Prague", "Athens", "Berlin", "Cairo", "Geneva", "Havana", "Lima", "Rome")
PETS = ("parrot", "rabbit", "turtle", "hamster", "donkey", "falcon", "spaniel", "ferret", "gecko", "pony")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
CHATTER = (
    ("How do I keep bread fresh?", "Keep it in a paper bag or a bread box, and freeze what you can't eat within two days."),
    ("Can you explain what a prime number is?", "A prime number is larger than one and is divided evenly only by one and itself."),
    ("What should I pack for a hike?", "Take water, a map, a rain jacket, some food, and a small first aid kit."),
    ("Why is the sky blue?", "Air scatters short waves of light more than long ones, so blue reaches us from everywhere."),
    ("How often should I water a cactus?", "About once every two or three weeks, and even less in winter."),
    ("Tell me something about bees.", "A honey bee tells its sisters where flowers are by dancing in the dark of the hive."),
    ("How do I remove a coffee stain?", "Rinse it with cold water, then rub in a little soap and vinegar, and wash it as usual."),
    ("What makes a good photograph?", "Light, a clear subject, and a moment that is worth keeping; the camera matters less."),
    ("Is tea healthier than coffee?", "Both are fine in moderation; tea has less caffeine and coffee a little more of other things."),
    ("How do I learn to juggle?", "Begin with one ball, throw it in an arc at eye height, then two, and only then three."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Task:
    """``pieces`` of history in order of time, a ``question``, and the string that a right ``answer`` contains.

    ``wrong`` strings must not be in it; ``gold`` are the words in the history that carry the answer.
    """

    kind: str
    pieces: tuple[str, ...]
    question: str
    answer: str
    wrong: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()

    def right(self, said: str) -> bool:
        """Whether an answer counts, exactly scored: the whole word must be there, and none of the wrong ones before it."""
        at = _word_at(self.answer, said)
        return at is not None and all((bad := _word_at(word, said)) is None or bad > at for word in self.wrong)


def _word_at(word: str, text: str) -> int | None:
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)
    return found.start() if found else None


def prose(characters: int, draw: random.Random) -> list[str]:
    """Paragraphs of the language reference, about ``characters`` in all, from a random place on."""
    from pydoc_data.topics import topics

    paragraphs = [p.strip() for name in sorted(topics) for p in topics[name].split("\n\n") if 150 < len(p) < 900 and ">>>" not in p]
    start = draw.randrange(len(paragraphs))
    taken: list[str] = []
    count = 0
    while count < characters:
        taken.append(" ".join(paragraphs[(start + len(taken)) % len(paragraphs)].split()))
        count += len(taken[-1]) + 1
    return taken


def needle(seed: int, characters: int, depth: float, distractors: int = 0) -> Task:
    """A code in a sentence at ``depth`` (0 first .. 1 last) of the prose; ``distractors`` are codes of other places."""
    draw = random.Random(f"needle {seed}")
    paragraphs = prose(characters, draw)
    places = draw.sample(THINGS, 1 + distractors)
    codes = [str(code) for code in draw.sample(range(10000, 99999), 1 + distractors)]
    sentences = [f"The access code of the {place} is {code}." for place, code in zip(places, codes, strict=True)]
    for sentence in sentences[1:]:
        paragraphs.insert(draw.randrange(len(paragraphs) + 1), sentence)
    paragraphs.insert(round(depth * len(paragraphs)), sentences[0])
    return Task("needle", tuple(p + "\n" for p in paragraphs), f"What is the access code of the {places[0]}?", codes[0],
                tuple(codes[1:]), (sentences[0],))  # fmt: skip


def passkey(seed: int, characters: int, depth: float) -> Task:
    """The plainest recall: one key, no other numbers like it."""
    draw = random.Random(f"passkey {seed}")
    paragraphs = prose(characters, draw)
    code = str(draw.randrange(10000, 99999))
    sentence = f"Remember this: the pass key is {code}."
    paragraphs.insert(round(depth * len(paragraphs)), sentence)
    return Task("passkey", tuple(p + "\n" for p in paragraphs), "What is the pass key?", code, (), (sentence,))


def sessions(seed: int, characters: int, kind: str) -> Task:
    """Dated chats with facts among small talk. ``kind``: single, update (the latest counts), order, multi (facts of two sessions)."""
    draw = random.Random(f"{kind} {seed}")
    count = max(4, characters // 700)
    name = draw.choice(NAMES)
    facts: dict[int, str] = {}
    wrong: tuple[str, ...] = ()
    if kind == "single":
        pet, city = draw.choice(PETS), draw.choice(CITIES)
        facts[draw.randrange(count)] = f"My friend {name} moved to {city} with a {pet}."
        question, answer = f"Which city did my friend {name} move to?", city
    elif kind == "update":
        old, new = draw.sample(CITIES, 2)
        first, second = sorted(draw.sample(range(count), 2))
        facts[first], facts[second] = f"My friend {name} lives in {old}.", f"News: my friend {name} has moved and now lives in {new}."
        question, answer, wrong = f"In which city does my friend {name} live now?", new, (old,)
    elif kind == "order":
        a, b = draw.sample(CITIES, 2)
        first, second = sorted(draw.sample(range(count), 2))
        facts[first], facts[second] = f"I have just come back from a trip to {a}.", f"I have just come back from a trip to {b}."
        question, answer, wrong = f"Which trip did I make first, the one to {min(a, b)} or the one to {max(a, b)}?", a, (b,)
    else:
        pet, city = draw.choice(PETS), draw.choice(CITIES)
        first, second = sorted(draw.sample(range(count), 2))
        facts[first], facts[second] = f"My friend {name} lives in {city}.", f"The person who lives in {city} has bought a {pet}."
        question, answer = f"Which animal does my friend {name} have?", pet
    pieces = [_session(draw, number, count, facts.get(number)) for number in range(count)]
    return Task(kind, tuple(pieces), question, answer, wrong, tuple(facts[at] for at in sorted(facts)))


def _session(draw: random.Random, number: int, count: int, fact: str | None) -> str:
    """One dated chat of a few turns; the fact is said by the user somewhere in it."""
    day = number * 330 // count
    lines = [f"Session of {day % 28 + 1} {MONTHS[day // 28]} 2026."]
    turns = draw.sample(CHATTER, 4)
    at = draw.randrange(4) if fact else -1
    for turn, (said, answered) in enumerate(turns):
        if turn == at and fact:
            lines += [f"User: {fact}", "Assistant: Thank you for telling me."]
        lines += [f"User: {said}", f"Assistant: {answered}"]
    return "\n".join(lines) + "\n\n"
