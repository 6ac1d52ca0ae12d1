"""One judge's run over a packet: asks what is not decided yet, keeps every answer, leaves open what it must."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xlcheck.judging.answers import answer_schema, read_answer
from xlcheck.judging.endpoint import Ask, EndpointError, Message, NoAnswerError, Settings, text_of
from xlcheck.judging.items import Asked
from xlcheck.judging.packet import INSTRUCTIONS, Packet, packet_text
from xlcheck.judging.store import Kept, Store
from xlcheck.progress import watched
from xlcheck.rubric import Rubric
from xlcheck.verdicts import Verdict


class Plan(NamedTuple):
    """How one run goes about it."""

    settings: Settings
    judge: str
    """The name under which its verdicts stand."""
    run: str = "1"
    batch: int = 1
    """So many items are asked at once."""
    attempts: int = 2
    """So many answers that cannot be used are taken on one item before it stays open."""
    again: bool = False
    """Ask also what stayed open in an earlier session after all its attempts."""


class Judged(NamedTuple):
    """What a run has come to so far."""

    verdicts: tuple[Verdict, ...]
    """In the order of the rubric."""
    open: dict[str, str]
    """Item to the reason why there is no verdict on it."""
    questions: int
    """Questions put in this session; those kept from earlier ones are not asked again."""
    stopped: str | None = None
    """Why the endpoint could not be used any further."""


def run_judge(packet: Packet, rubric: Rubric, ask: Ask, store: Store, plan: Plan) -> Judged:
    """Ask all that is not decided, item by item or in batches, and return what is decided.

    Every answer is in the store before the next question is put, so a run that is killed goes on where it stopped.
    """
    session = _Session(packet, rubric, fingerprint(packet, plan))
    for kept in store.of(session.run):
        session.take(kept)
    if plan.again:
        session.tries.clear()
    questions, stopped = 0, None
    for batch in watched(session.batches(plan), "Asking the judge"):
        try:
            raw, problem = ask(session.messages(batch), answer_schema(packet.rubric, session.asked(batch))), None
        except NoAnswerError as error:
            raw, problem = None, str(error)
            session.given_up.update(batch)
        except EndpointError as error:
            stopped = str(error)
            break
        questions += 1
        kept = Kept(run=session.run, items=tuple(batch), raw=raw, problem=problem)
        store.keep(kept)
        session.take(kept)
    still = {item: session.problems.get(item, "not asked") for item in packet.ids() if item not in session.decided}
    decided = tuple(
        session.decided[item].model_copy(update={"judge": plan.judge, "run": plan.run})
        for item in packet.ids()
        if item in session.decided
    )
    return Judged(decided, still, questions, stopped)


def fingerprint(packet: Packet, plan: Plan) -> str:
    """Return the SHA-256 of everything that an answer depends on: only then is an answer of before one to this."""
    where = plan.settings
    told = [where.base_url, where.model, where.temperature, where.response_format, plan.judge, plan.run]
    return hashlib.sha256(json.dumps([INSTRUCTIONS, packet_text(packet), *told]).encode()).hexdigest()


@dataclass
class _Session:
    """What is known of each item while a run goes on."""

    packet: Packet
    rubric: Rubric
    run: str
    decided: dict[str, Verdict] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    tries: Counter[str] = field(default_factory=Counter)
    given_up: set[str] = field(default_factory=set)
    """Items that the endpoint did not answer in this session."""

    def take(self, kept: Kept) -> None:
        """Take in one answer, or that there was none."""
        items = [item for item in kept.items if item not in self.decided]
        if kept.raw is None:
            self.problems |= dict.fromkeys(items, kept.problem or "no answer")
            return
        self.tries.update(items)
        text = text_of(kept.raw)
        if text is None:
            self.problems |= dict.fromkeys(items, "the endpoint's reply is no chat completion")
            return
        reading = read_answer(text, self.rubric, items)
        self.decided |= reading.verdicts
        self.problems |= reading.problems

    def batches(self, plan: Plan) -> Iterator[list[str]]:
        """Yield what to ask next until nothing is left to ask."""
        while pending := [
            item
            for item in self.packet.ids()
            if item not in self.decided and item not in self.given_up and self.tries[item] < plan.attempts
        ]:
            yield pending[: plan.batch]

    def asked(self, items: Sequence[str]) -> list[Asked]:
        """Return the items themselves."""
        return [item for item in self.packet.asked if item.id in items]

    def messages(self, items: Sequence[str]) -> list[Message]:
        """Return the question about some items, with what was wrong with the last answer on them."""
        text = packet_text(self.packet, items)
        wrong = [f"{item}: {self.problems[item]}" for item in items if self.tries[item] and item in self.problems]
        if wrong:
            text += "\n# Your last answer could not be used\n\n" + "\n".join(wrong) + "\n"
        return [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": text}]
