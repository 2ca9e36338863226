"""What people say beside the evidence: marks on works, what they change in the counts, and views they keep."""

from forensics.people.counting import SetAside, aside_text, is_settled, judged
from forensics.people.marks import Annotation, AnnotationError, annotate, marks_text
from forensics.people.standing import NOBODY, Marks, People, people_of

__all__ = [
    "NOBODY",
    "Annotation",
    "AnnotationError",
    "Marks",
    "People",
    "SetAside",
    "annotate",
    "aside_text",
    "is_settled",
    "judged",
    "marks_text",
    "people_of",
]
