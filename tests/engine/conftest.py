from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.helpers.streets import Street, make_street
from worldpager.engine.generator import WorldGenerator


@pytest.fixture
def street() -> Iterator[Street]:
    """Makes streets and closes them at the end."""
    made: list[WorldGenerator] = []

    def make(*parts: object, **settings: object) -> WorldGenerator:
        made.append(make_street(*parts, **settings))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for generator in made:
        generator.close()
