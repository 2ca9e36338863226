"""The one place that makes AWS clients and calls them: read-only operations, patient retries, errors in our words."""

import os
import random
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore import exceptions as bc
from botocore.config import Config
from botocore.loaders import Loader, create_loader
from botocore.parsers import ResponseParserError
from botocore.session import Session

from forensics.errors import CredentialsError, EndpointUnreachableError, OperationRefusedError
from forensics.regions import is_aws_host, partition_id
from forensics.sentence import said
from ingest.aws_errors import AwsRefusedError, in_our_words
from ingest.reply_shape import ReplyShape, in_words

ALLOWED = frozenset(
    {
        "cloudtrail:LookupEvents",
        "cloudwatch:GetMetricData",
        "dynamodb:DescribeTable",
        "dynamodb:DescribeTimeToLive",
        "dynamodb:Query",
        "dynamodb:Scan",
        "lambda:GetFunctionConcurrency",
        "lambda:GetFunctionConfiguration",
        "lambda:ListEventSourceMappings",
        "logs:DescribeLogGroups",
        "logs:FilterLogEvents",
        "logs:GetQueryResults",
        "logs:StartQuery",
        "sqs:GetQueueAttributes",
        "sqs:GetQueueUrl",
        "sqs:ListDeadLetterSourceQueues",
        "sqs:ListMessageMoveTasks",
        "sqs:ListQueues",
    }
)
"""Every operation Doubletake may call, as IAM spells it; docs/iam-policy.json allows exactly these."""

CUT_REPLY, UNREADABLE_REPLY = "CutReply", "UnreadableReply"
"""Codes of our own, for replies that AWS would not give."""
CUT_REPLY_ATTEMPTS = 3
UNREACHABLE_ATTEMPTS = 2
SILENT_ATTEMPTS = 3
CALLS_PER_S = {
    "FilterLogEvents": 2.0,
    "DescribeLogGroups": 5.0,
    "StartQuery": 2.0,
    "GetQueryResults": 4.0,
    "LookupEvents": 1.8,
    "Query": 0.5,
    "Scan": 0.5,
}
"""Calls per second towards AWS itself, by operation and region: the quota of FilterLogEvents is as low as 5, that of
LookupEvents is 2, and the people on call share them; a page of a DynamoDB table takes from the capacity of its handlers."""
PATIENCE_S = 120.0
"""How long AWS may throttle or fail, botocore's own retries included, before a source is given up."""
CALL_S, LEAST_CALL_S = 300.0, 30.0
"""How long one call may take in all, botocore's own retries included: a timeout of reading begins anew with each byte. Each
call that took longer halves it for the next, down to the second; an answer in time restores it."""
CALLING = "aws-call"
"""The name of the threads that call: one that is given up stays behind until the server is done with it."""
_FIRST_WAIT_S, _LONGEST_WAIT_S = 1.0, 20.0

_NO_CREDENTIALS = (
    bc.NoCredentialsError,
    bc.PartialCredentialsError,
    bc.CredentialRetrievalError,
    bc.SSOError,
    bc.TokenRetrievalError,
    bc.MetadataRetrievalError,
    bc.LoginError,
)
_UNREACHABLE = (bc.EndpointConnectionError, bc.ConnectTimeoutError, bc.ProxyConnectionError)
_PARSER_CRASHES = (AttributeError, KeyError, OverflowError, RuntimeError, TypeError, ValueError)
"""What botocore's parsers raise when a reply has another shape than its model says."""


@cache
def _models(data_path: str | None) -> Loader:
    return create_loader(data_path)


def _session(profile: str | None) -> boto3.Session:
    """Return a session that reads the descriptions of AWS's services once for all sessions: they are megabytes of JSON.

    Raises what boto3.Session does.
    """
    core = Session()
    session = boto3.Session(profile_name=profile, botocore_session=core)
    core.register_component("data_loader", _models(core.get_config_variable("data_path")))
    return session


class Aws:
    """Read-only access to one account and region, by the usual AWS conventions.

    ``profile``, ``region`` and ``endpoint_url`` win over AWS_PROFILE, AWS_REGION and AWS_ENDPOINT_URL. The timeouts
    (seconds) and the number of attempts are for tests; the defaults suit people. Nothing is sent before the first call.
    """

    def __init__(
        self,
        profile: str | None = None,
        region: str | None = None,
        endpoint_url: str | None = None,
        *,
        connect_timeout_s: float = 3,
        read_timeout_s: float = 30,
        max_attempts: int = 8,
        patience_s: float = PATIENCE_S,
        call_s: float = CALL_S,
    ) -> None:
        self._asked = (profile, region, endpoint_url)
        self._limits: dict[str, Any] = {
            "connect_timeout_s": connect_timeout_s,
            "read_timeout_s": read_timeout_s,
            "max_attempts": max_attempts,
            "patience_s": patience_s,
            "call_s": call_s,
        }
        self._call_s = call_s
        self._endpoint_url = endpoint_url
        try:
            self._session = _session(profile)
            self._region = region or os.environ.get("AWS_REGION") or self._session.region_name
        except bc.BotoCoreError as problem:
            raise _set_up(problem) from problem
        self._clients: dict[str, Any] = {}
        self._next_call_at: dict[str, float] = {}
        self._elsewhere: dict[str, Aws] = {}
        self._shape = ReplyShape()
        self._failing_since: float | None = None

    @property
    def region(self) -> str:
        """The region in use; raises CredentialsError if none is set."""
        if not self._region:
            raise CredentialsError("no AWS region is set", "Give --region, or set AWS_REGION.")
        return self._region

    @property
    def partition(self) -> str:
        """What the region's ARNs begin with after ``arn:``."""
        return partition_id(self.region)

    @property
    def label(self) -> str:
        """The account and region in words, as far as they were chosen."""
        profile = self._asked[0]
        return f"{f'profile {profile!r}, ' if profile else ''}region {self.region}"

    def in_region(self, region: str) -> "Aws":
        """Return access to the same account in another region, always the same one: it keeps that region's pace."""
        if region == self._region:
            return self
        if region not in self._elsewhere:
            profile, _, endpoint_url = self._asked
            self._elsewhere[region] = Aws(profile, region, endpoint_url, **self._limits)
        return self._elsewhere[region]

    def misfits(self) -> list[str]:
        """Return what was left out of replies since this was asked last, because it is not what AWS's models say."""
        return self._shape.take()

    def leave_out(self, why: str) -> None:
        """Note something else that was left out of a reply."""
        self._shape.misfits.append(why)

    def client(self, service: str) -> Any:
        """Return the client of one service; it refuses every operation outside ALLOWED."""
        if service not in self._clients:
            self._clients[service] = self._make(service)
        return self._clients[service]

    def call(self, service: str, operation: str, demand: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Call an operation (``get_queue_url``) and return the reply.

        ``demand`` names a key that every honest reply has. A reply that was cut off on the way parses as an empty one:
        it is asked for again, then it is an error, never an empty result.

        Raises CredentialsError, EndpointUnreachableError, OperationRefusedError or AwsRefusedError.
        """
        client = self.client(service)
        name = client.meta.method_to_api_mapping[operation]
        for _ in range(CUT_REPLY_ATTEMPTS):
            reply = self._patiently(client, operation, name, parameters)
            if demand is None or reply.get(demand) is not None:
                return reply
            if misfits := self.misfits():
                raise AwsRefusedError(name, UNREADABLE_REPLY, in_words(misfits), "failed")
        raise AwsRefusedError(
            name, CUT_REPLY, said("the reply has no {what}: it was cut off on the way", what=repr(demand)), "failed"
        )

    def _make(self, service: str) -> Any:
        config = Config(
            connect_timeout=self._limits["connect_timeout_s"],
            read_timeout=self._limits["read_timeout_s"],
            retries={"mode": "standard", "total_max_attempts": self._limits["max_attempts"]},
            user_agent_extra="doubletake",
        )
        try:
            client = self._session.client(
                service, region_name=self.region, endpoint_url=self._endpoint_url, config=config
            )
        except _NO_CREDENTIALS as problem:
            raise _no_credentials(problem) from problem
        except bc.BotoCoreError as problem:
            raise _set_up(problem) from problem
        except ValueError as problem:
            raise EndpointUnreachableError(
                said("the AWS endpoint {where} is not an address", where=repr(self._endpoint_url)),
                "Write it like http://127.0.0.1:4566.",
            ) from problem
        name = client.meta.service_model.service_id.hyphenize()
        client.meta.events.register_first(f"before-call.{name}", _refuse_unlisted)
        client.meta.events.register_first(f"needs-retry.{name}", _give_up_early)
        client.meta.events.register_first(f"before-parse.{name}", self._fit)
        return client

    def _fit(self, operation_model: Any, response_dict: dict[str, Any], **_: Any) -> None:
        """Leave out of a reply what does not fit before botocore's parser stumbles over it and the whole reply is lost."""
        if response_dict["status_code"] < 300 and (body := response_dict["body"])[:1] == b"{":
            shape = operation_model.output_shape
            response_dict["body"] = self._shape.fitted(operation_model.name, body, shape)

    def _patiently(self, client: Any, operation: str, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Call; while AWS throttles or fails, wait with full jitter and call again.

        Patience is shared: after one source has used it up, the next that fails gets one more try of botocore's own.
        A success restores it.
        """
        longest_s = _FIRST_WAIT_S
        while True:
            self._pace(client, name)
            began_at = time.monotonic()
            try:
                reply = self._once(client, operation, name, parameters)
            except AwsRefusedError as problem:
                if not problem.is_passing:
                    raise
                wait_s = random.uniform(0, longest_s)  # noqa: S311
                self._failing_since = began_at if self._failing_since is None else self._failing_since
                if time.monotonic() + wait_s > self._failing_since + self._limits["patience_s"]:
                    raise
            else:
                self._failing_since = None
                return reply
            time.sleep(wait_s)  # AWS asked for patience; how much there is in all is bounded above
            longest_s = min(2 * longest_s, _LONGEST_WAIT_S)

    def _once(self, client: Any, operation: str, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
        where = client.meta.endpoint_url
        try:
            return self._in_time(name, lambda: getattr(client, operation)(**parameters))
        except _NO_CREDENTIALS as problem:
            raise _no_credentials(problem) from problem
        except (*_UNREACHABLE, bc.ReadTimeoutError) as problem:
            raise _unreachable(where) from problem
        except bc.ClientError as problem:
            raise in_our_words(name, problem.response) from problem
        except (ResponseParserError, *_PARSER_CRASHES) as problem:
            raise AwsRefusedError(
                name, UNREADABLE_REPLY, said("{where} does not answer as AWS does", where=where), "failed"
            ) from problem
        except bc.ParamValidationError as problem:
            raise AwsRefusedError(name, "BadParameter", " ".join(str(problem).split()), "failed") from problem
        except (bc.BotoCoreError, bc.HTTPClientError) as problem:
            raise AwsRefusedError(
                name, type(problem).__name__, str(problem), "failed", isinstance(problem, bc.ConnectionError)
            ) from problem

    def _in_time(self, name: str, call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Call in a thread that is not waited for longer than a call may take; raises AwsRefusedError where it does."""
        came: list[tuple[dict[str, Any] | None, BaseException | None]] = []

        def run() -> None:
            try:
                came.append((call(), None))
            except BaseException as problem:
                came.append((None, problem))

        thread = threading.Thread(target=run, name=CALLING, daemon=True)
        thread.start()
        thread.join(self._call_s)
        if not came:
            too_slow = said("no whole answer came within {n} s", n=f"{self._call_s:.0f}")
            self._call_s = max(self._call_s / 2, min(LEAST_CALL_S, self._call_s))
            raise AwsRefusedError(name, "TooSlow", too_slow, "failed")
        self._call_s = self._limits["call_s"]
        reply, problem = came[0]
        if problem is not None:
            raise problem
        assert reply is not None
        return reply

    def _pace(self, client: Any, name: str) -> None:
        per_s = CALLS_PER_S.get(name)
        if per_s is None or not is_aws_host(urlsplit(client.meta.endpoint_url).hostname or ""):
            return
        now, free_at = time.monotonic(), self._next_call_at.get(name, 0.0)
        if now < free_at:
            time.sleep(free_at - now)  # the quota is the whole account's: leave the rest of it to others
        self._next_call_at[name] = max(now, free_at) + 1 / per_s


def _refuse_unlisted(model: Any, **_: Any) -> None:
    service = model.service_model.signing_name.replace("monitoring", "cloudwatch")
    if f"{service}:{model.name}" not in ALLOWED:
        raise OperationRefusedError(
            said("{what} is not one of the operations Doubletake may call", what=f"{service}:{model.name}"),
            "Looking must not change the evidence: this is a bug in Doubletake.",
        )


def _give_up_early(attempts: int, caught_exception: Exception | None, **_: Any) -> None:
    """Stop after a few tries where nothing answers: the other retries are for services that do."""
    if isinstance(caught_exception, _UNREACHABLE) and attempts >= UNREACHABLE_ATTEMPTS:
        raise caught_exception
    if isinstance(caught_exception, bc.ReadTimeoutError) and attempts >= SILENT_ATTEMPTS:
        raise caught_exception


def _unreachable(where: str) -> EndpointUnreachableError:
    return EndpointUnreachableError(
        said("nothing answers at the AWS endpoint {where}", where=where),
        "Check --region and --endpoint-url, and the network.",
    )


def _no_credentials(problem: Exception) -> CredentialsError:
    return CredentialsError(
        said("no AWS credentials can be used: {why}", why=problem),
        "Give --profile, or set AWS_PROFILE or AWS_ACCESS_KEY_ID; try `aws sts get-caller-identity`.",
    )


def _set_up(problem: bc.BotoCoreError) -> CredentialsError:
    if isinstance(problem, bc.ProfileNotFound):
        return CredentialsError(
            said("there is no AWS profile {name}", name=repr(problem.kwargs["profile"])),
            "Give another --profile, or set AWS_PROFILE.",
        )
    return CredentialsError(
        said("the AWS set-up cannot be used: {why}", why=problem), "Check --region and the files in ~/.aws."
    )
