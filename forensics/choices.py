"""Words among which the settings file and options of the command choose."""

from typing import Literal, get_args

Order = Literal["sequential", "parallel"]
WorkerFormat = Literal[
    "laravel",
    "shoryuken",
    "sqs-consumer",
    "celery",
    "activejob",
    "spring",
    "nservicebus",
    "rebus",
    "watermill",
    "lines",
]
WebhookKind = Literal["slack", "teams", "pagerduty", "sns", "email", "json"]
AlertKind = Literal["dead_letter", "age", "throttled", "blocked", "poison", "lost", "source"]
GuardKey = Literal["message_id", "business_key"]
AccessMode = Literal["none", "oidc"]
LanguageCode = Literal["en", "ja"]
WEBHOOKS: tuple[WebhookKind, ...] = get_args(WebhookKind)
ALERTS: tuple[AlertKind, ...] = get_args(AlertKind)
LANGUAGES: tuple[LanguageCode, ...] = get_args(LanguageCode)
