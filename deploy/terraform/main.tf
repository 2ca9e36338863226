# A role that may read what Doubletake reads, and nothing else; the policy is docs/iam-policy.json.
terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "trusted_principal_arn" {
  description = "Who may take the role, such as arn:aws:iam::123456789012:role/on-call."
  type        = string

  validation {
    condition     = can(regex("^arn:aws[a-z-]*:(iam|sts)::[0-9]{12}:.+", var.trusted_principal_arn))
    error_message = "Name one principal by its ARN."
  }
}

variable "role_name" {
  description = "The name of the role."
  type        = string
  default     = "doubletake-reader"
}

variable "external_id" {
  description = "An external id that must be given with the request; empty for none."
  type        = string
  default     = ""
}

variable "max_session_hours" {
  description = "How long a session may last, 1 to 12 hours."
  type        = number
  default     = 4

  validation {
    condition     = var.max_session_hours >= 1 && var.max_session_hours <= 12
    error_message = "A session lasts 1 to 12 hours."
  }
}

resource "aws_iam_role" "reader" {
  name                 = var.role_name
  max_session_duration = 3600 * var.max_session_hours
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [merge(
      {
        Effect    = "Allow"
        Action    = "sts:AssumeRole"
        Principal = { AWS = var.trusted_principal_arn }
      },
      var.external_id == "" ? {} : { Condition = { StringEquals = { "sts:ExternalId" = var.external_id } } },
    )]
  })
}

resource "aws_iam_role_policy" "reader" {
  name   = "doubletake-reads-and-changes-nothing"
  role   = aws_iam_role.reader.id
  policy = file("${path.module}/../../docs/iam-policy.json")
}

output "role_arn" {
  description = "The role to name under [profile doubletake] in ~/.aws/config."
  value       = aws_iam_role.reader.arn
}
