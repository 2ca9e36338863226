"""What tests of words share."""

import pytest

from forensics import language


@pytest.fixture
def without_patterns(monkeypatch):
    """Nothing is known by its form."""
    caches = (language._by_phrase, language._sentence)
    monkeypatch.setattr(language, "patterns", lambda code: ())
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()
