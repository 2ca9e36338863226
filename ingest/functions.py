"""Lambda functions: timeout, memory and where they log. Environment variables are dropped here and stored nowhere."""

from typing import Any

from ingest.aws_errors import AwsRefusedError
from ingest.clients import UNREADABLE_REPLY, Aws
from ingest.mappings import is_function_arn, unqualified
from ingest.values import integer, moment


def fetch(aws: Aws, function_arn: str) -> dict[str, Any]:
    """Return the function's configuration, of which only what is kept. Raises AwsRefusedError."""
    configuration = aws.call("lambda", "get_function_configuration", "FunctionArn", FunctionName=function_arn)
    if not is_function_arn(configuration["FunctionArn"]):
        raise AwsRefusedError(
            "GetFunctionConfiguration", UNREADABLE_REPLY, "the FunctionArn is no ARN of a function", "failed"
        )
    return {"DurableConfig": None} | kept(configuration)  # this API names it wherever there is one


def fetch_concurrency(aws: Aws, function_arn: str) -> dict[str, Any]:
    """Return the function's ``ReservedConcurrentExecutions``, None where it has none. Raises AwsRefusedError."""
    reply = aws.call("lambda", "get_function_concurrency", FunctionName=unqualified(function_arn)[0])
    return {"ReservedConcurrentExecutions": reply.get("ReservedConcurrentExecutions")}


def kept(configuration: dict[str, Any]) -> dict[str, Any]:
    """Drop what is no setting of ours: environment variables stay where they are."""
    return {key: value for key, value in configuration.items() if key in _KEPT}


_KEPT = {"FunctionArn", "Timeout", "MemorySize", "Runtime", "LoggingConfig", "LastModified", "DurableConfig"}


def to_row(account_id: str, region: str, configuration: dict[str, Any]) -> dict[str, Any]:
    """Turn a configuration into a row of ``function_settings``, without id and time.

    That nothing says of durable execution is no "no": a saved reply may be of a tool that is older than that.
    """
    function_arn, function_name = unqualified(configuration["FunctionArn"])
    logging = configuration.get("LoggingConfig") or {}
    return {
        "account_id": account_id,
        "region": region,
        "function_arn": function_arn,
        "function_name": function_name,
        "timeout_s": integer(configuration.get("Timeout")),
        "memory_mb": integer(configuration.get("MemorySize")),
        "runtime": configuration.get("Runtime") or None,
        "log_group": logging.get("LogGroup") or default_log_group(function_name),
        "log_format": logging.get("LogFormat") or "Text",
        "application_log_level": logging.get("ApplicationLogLevel"),
        "system_log_level": logging.get("SystemLogLevel"),
        "reserved_concurrency": integer(configuration.get("ReservedConcurrentExecutions")),
        "is_durable": bool(configuration["DurableConfig"]) if "DurableConfig" in configuration else None,
        "last_modified_at": moment(configuration.get("LastModified")),
    }


def default_log_group(function_name: str) -> str:
    """Return where Lambda logs unless told otherwise."""
    return f"/aws/lambda/{function_name}"
