"""Asking any endpoint that speaks OpenAI's chat completions: hosted, or a local server.

The `openai` client (extra ``judge``) waits and asks again by itself, with growing pauses or as long as the endpoint's
``Retry-After`` says, where it is limited (429), overloaded (5xx), slow or cut off.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, cast

from xlcheck.errors import UsageError

Message = dict[str, str]
"""``{"role": "system" | "user", "content": …}``."""
ResponseFormat = Literal["text", "json_object", "json_schema"]


class Settings(NamedTuple):
    """Where and how to ask; together with the packet it tells one run of a judge from another."""

    base_url: str
    """Such as ``https://api.openai.com/v1`` or ``http://localhost:8000/v1``."""
    model: str
    timeout: float = 120.0
    """Seconds until an answer must have come."""
    retries: int = 5
    """How often a question is asked again where the endpoint does not answer it."""
    temperature: float | None = None
    """None leaves it to the endpoint (some models take none)."""
    response_format: ResponseFormat = "text"


class NoAnswerError(Exception):
    """One question got no answer after all retries; the text says why. Others may fare better."""


class EndpointError(UsageError):
    """The endpoint cannot be used at all: wrong address, key or model."""


Ask = Callable[[Sequence[Message], dict[str, Any]], str]
"""Asks with messages and the JSON Schema of the answer, returns the raw body; raises NoAnswerError or EndpointError."""


def connect(settings: Settings, key: str) -> Ask:
    """Return a function that asks the endpoint; UsageError where the extra ``judge`` is not installed."""
    try:
        import openai
    except ImportError:
        raise UsageError("asking a model needs the extra, pip install 'xlcheck[judge]'") from None
    client = openai.OpenAI(
        base_url=settings.base_url, api_key=key, timeout=settings.timeout, max_retries=settings.retries
    )

    def ask(messages: Sequence[Message], schema: dict[str, Any]) -> str:
        try:
            raw = client.chat.completions.with_raw_response.create(
                model=settings.model, messages=cast(Any, messages), **_options(settings, schema)
            )
        except openai.OpenAIError as error:
            raise _explained(error, settings) from None
        return str(raw.http_response.text)

    return ask


def _options(settings: Settings, schema: dict[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if settings.temperature is not None:
        options["temperature"] = settings.temperature
    if settings.response_format == "json_object":
        options["response_format"] = {"type": "json_object"}
    elif settings.response_format == "json_schema":
        options["response_format"] = {"type": "json_schema", "json_schema": {"name": "verdicts", "schema": schema}}
    return options


def _explained(error: Exception, settings: Settings) -> Exception:
    """Return what an error of the client means: this question, or the endpoint as a whole."""
    import openai

    where = settings.base_url
    if isinstance(error, openai.APITimeoutError):
        return NoAnswerError(f"no answer within {settings.timeout:g} seconds, asked {settings.retries + 1} times")
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return EndpointError(f"{where} refuses the key ({error.status_code}); name the right one in the environment")
    if isinstance(error, openai.NotFoundError):
        return EndpointError(f"{where} knows no model {settings.model!r}, or has no chat completions there (404)")
    if isinstance(error, openai.RateLimitError):
        return NoAnswerError(f"the endpoint limits the rate (429), asked {settings.retries + 1} times")
    if isinstance(error, openai.APIStatusError):
        return NoAnswerError(f"the endpoint answers {error.status_code}: {_short(error.response.text)}")
    if isinstance(error, openai.APIConnectionError):
        return EndpointError(f"{where} cannot be reached: {error.__cause__ or error}")
    return NoAnswerError(f"the client gave up: {_short(str(error))}")


def text_of(body: str) -> str | None:
    """Return what the model said in a raw body; None where the body is no chat completion."""
    try:
        text = json.loads(body)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:199] + "…"
