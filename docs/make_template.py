"""Writes docs/cloudformation.yaml from docs/iam-policy.json: ``python docs/make_template.py``."""

import json
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
POLICY = DOCS / "iam-policy.json"
FILE = DOCS / "cloudformation.yaml"
_HEAD = """\
# A role that may read what Doubletake reads, and nothing else. Written from iam-policy.json by docs/make_template.py.
AWSTemplateFormatVersion: "2010-09-09"
Description: Read-only role for Doubletake, incident forensics for Amazon SQS. It can receive, delete and change nothing.
Parameters:
  RoleName:
    Type: String
    Default: doubletake-reader
    AllowedPattern: "[A-Za-z0-9+=,.@_-]{1,64}"
    Description: The name of the role.
  TrustedPrincipalArn:
    Type: String
    AllowedPattern: "arn:aws[a-z-]*:(iam|sts)::[0-9]{12}:.+"
    Description: Who may take the role, such as arn:aws:iam::123456789012:role/on-call.
  ExternalId:
    Type: String
    Default: ""
    Description: An external id that must be given with the request; empty for none.
  MaxSessionHours:
    Type: Number
    Default: 4
    MinValue: 1
    MaxValue: 12
    Description: Hours that a session of the role may last.
Conditions:
  HasExternalId:
    Fn::Not:
      - Fn::Equals: [{Ref: ExternalId}, ""]
Resources:
  Reader:
    Type: AWS::IAM::Role
    Properties:
      RoleName: {Ref: RoleName}
      Description: Reads logs, metrics and settings of queues and their consumers for Doubletake.
      MaxSessionDuration:
        Fn::FindInMap: [Seconds, {Ref: MaxSessionHours}, Value]
      AssumeRolePolicyDocument:
        Version: "2012-10-17"
        Statement:
          - Effect: Allow
            Principal:
              AWS: {Ref: TrustedPrincipalArn}
            Action: sts:AssumeRole
            Condition:
              Fn::If:
                - HasExternalId
                - StringEquals:
                    sts:ExternalId: {Ref: ExternalId}
                - {Ref: AWS::NoValue}
      Policies:
        - PolicyName: doubletake-read-only
          PolicyDocument:
"""
_TAIL = """\
Outputs:
  RoleArn:
    Description: The role to take, for role_arn in ~/.aws/config.
    Value: {Fn::GetAtt: [Reader, Arn]}
"""


def template() -> str:
    """Return the template as YAML, the policy's statements in it as they are."""
    policy = json.loads(POLICY.read_text(encoding="utf-8"))
    hours = "".join(f'    "{n}": {{Value: {n * 3600}}}\n' for n in range(1, 13))
    head = _HEAD.replace("Conditions:\n", f"Mappings:\n  Seconds:\n{hours}Conditions:\n", 1)
    return head + _yaml(policy, 12) + _TAIL


def _yaml(value: dict[str, Any], indent: int) -> str:
    blanks = " " * indent
    lines = [f'{blanks}Version: "{value["Version"]}"', f"{blanks}Statement:"]
    for statement in value["Statement"]:
        mark = "- "
        for key, said in statement.items():
            if isinstance(said, list):
                lines.append(f"{blanks}  {mark}{key}:")
                lines += [f"{blanks}      - {item}" for item in said]
            else:
                lines.append(f"{blanks}  {mark}{key}: {json.dumps(said)}")
            mark = "  "
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the template."""
    FILE.write_text(template(), encoding="utf-8")


if __name__ == "__main__":
    main()
