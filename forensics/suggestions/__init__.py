"""What a consumer's log already says that the settings file does not: marks, keys and order, proposed with their evidence."""

from forensics.suggestions.model import Proposal, Suggestions
from forensics.suggestions.suggest import suggest
from forensics.suggestions.written import settings_text

__all__ = ["Proposal", "Suggestions", "settings_text", "suggest"]
