"""What a consumer's log already says that the settings file does not: marks, keys and order, proposed with their evidence."""

from forensics.suggestions.model import Proposal, Suggestions
from forensics.suggestions.suggest import suggest
from forensics.suggestions.written import rivals_in, settings_text

__all__ = ["Proposal", "Suggestions", "rivals_in", "settings_text", "suggest"]
