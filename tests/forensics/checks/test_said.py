"""What every check says, passing and failing, in the other languages: whole, and never the opposite."""

import re
from collections import defaultdict

import pytest

from forensics.checks import CHECKS, FAILS, PASSES
from forensics.choices import LANGUAGES
from forensics.language import Language
from tests.forensics.checks.test_checks import ADVICE, BORDERS, HEALTHY, asked
from tests.pages.english import english_in

OTHERS = [code for code in LANGUAGES if code != "en"]
STATES = {"Enabled", "Disabled"}
"""Lambda's own words, which stay."""
CODE = {"print", "event", "key"}
ANSWERS = {name: (code, asked(code, **changed)) for name, (code, changed, _) in BORDERS.items()}
ANSWERS |= {name: (code, asked(code, **changed)) for name, (code, changed, _) in ADVICE.items()}
ANSWERS |= {f"healthy: {code}": (code, CHECKS[code](HEALTHY)) for code in CHECKS}


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("name", ANSWERS)
def test_what_a_check_says_is_said_whole(name, code):
    _, answer = ANSWERS[name]
    texts = [text for text in (answer.sentence, answer.advice, answer.would_decide) if text]
    left = {text: set(english_in(Language(code).sentence(text))) - STATES - CODE for text in texts}

    assert {text: found for text, found in left.items() if found} == {}


@pytest.mark.parametrize("code", OTHERS)
def test_none_is_recognised_by_its_form(code):
    """Values are marked in every sentence, so its phrase is found without a pattern."""
    told = {t for _, a in ANSWERS.values() for t in (a.sentence, a.advice, a.would_decide) if t}
    left = {t: found for t in told if (found := set(english_in(Language(code).sentence(t))) - STATES - CODE)}

    assert len(told) > 80
    assert left == {}


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("check", CHECKS)
def test_passing_and_failing_are_not_said_alike_where_english_tells_them_apart(check, code):
    """Names and numbers left out: 'the mapping is Enabled' must not become 'the mapping is disabled (Enabled)'."""
    said = defaultdict(set)
    for of, answer in ANSWERS.values():
        if of == check and answer.status in (PASSES, FAILS):
            english = re.sub(r"[\d.,%]+", "#", answer.sentence)
            other = re.sub(r"[A-Za-z0-9.,%]+", "#", Language(code).sentence(answer.sentence))
            said[other].add((answer.status, english))

    for other, sources in said.items():
        assert len({status for status, _ in sources}) == 1 or len({english for _, english in sources}) == 1, other
