"""What people say beside the evidence: marks on works, what they change in the counts, and views they keep."""

from forensics.people.counting import SetAside, aside_text, is_settled, judged
from forensics.people.marks import Annotation, AnnotationError, annotate, marks_text
from forensics.people.standing import NOBODY, Marks, People, people_of
from forensics.people.views import View, ViewError, delete_view, save_view, views

__all__ = [
    "NOBODY",
    "Annotation",
    "AnnotationError",
    "Marks",
    "People",
    "SetAside",
    "View",
    "ViewError",
    "annotate",
    "aside_text",
    "delete_view",
    "is_settled",
    "judged",
    "marks_text",
    "people_of",
    "save_view",
    "views",
]
