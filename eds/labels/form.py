"""What the judging page of a campaign asks and shows: the question, names of the two sides, what is asked beside."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from eds.labels.validation import fault_of

LONGEST = 300  # bytes of a question or a name
MOST_ASPECTS = 9  # each has a digit as its key
GRADES = (0, 1, 2, 3)
ASPECTS = ("shape", "colour", "pattern", "material", "detail", "occasion")  # what the form suggests


@dataclass(frozen=True)
class Form:
    """The questions of a campaign; an empty text means the page's own words."""

    question: str = ""
    query_name: str = ""  # what the sides are called
    candidate_name: str = ""
    aspects: tuple[str, ...] = ()  # that experts may name after an answer: in what the two agree or differ
    similar_from: int | None = None  # experts give a grade from 0 to 3, and from this one on it means similar
    notes: bool = False  # experts may write a note that does not set the pair aside

    def faults(self) -> list[str]:
        """Everything that is wrong with it."""
        result = []
        for name in ("question", "query_name", "candidate_name"):
            if fault := fault_of(getattr(self, name), LONGEST, empty=True):
                result.append(f"{name} {fault}")
        for aspect in self.aspects:
            if fault := fault_of(aspect, LONGEST):
                result.append(f"aspect {aspect!r} {fault}")
            elif "," in aspect:
                result.append(f"aspect {aspect!r} has a comma, which separates aspects in an export")
        if len(set(self.aspects)) < len(self.aspects):
            result.append("an aspect is named twice")
        if len(self.aspects) > MOST_ASPECTS:
            result.append(f"{len(self.aspects)} aspects; {MOST_ASPECTS} at most, each has a digit as its key")
        if self.similar_from is not None and self.similar_from not in GRADES[1:]:
            result.append(f"similar_from is {self.similar_from!r}, not 1, 2 or 3")
        return result

    def to_text(self) -> str:
        """Return it as the store keeps it; nothing if nothing is said.

        >>> Form(question="Alike?").to_text(), Form().to_text(), Form.of(Form(notes=True).to_text()).notes
        ('{"question": "Alike?"}', '', True)
        """
        said = {name: value for name, value in asdict(self).items() if value not in ("", (), None, False)}
        return json.dumps(said, ensure_ascii=False) if said else ""

    @classmethod
    def of(cls, text: str) -> "Form":
        """Return the form that was stored."""
        said: dict[str, Any] = json.loads(text) if text else {}
        known = {name: value for name, value in said.items() if name in cls.__dataclass_fields__}
        return cls(**{**known, "aspects": tuple(known.get("aspects", ()))})


PLAIN = Form()  # the page's own words, and only the vote
