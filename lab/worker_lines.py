"""What a plain Python worker around boto3 writes."""

from lab.loglines import epoch_ms
from lab.simulation import Delivery


def received_line(delivery: Delivery) -> str:
    """Return the message as boto3's receive_message gives it; print writes it as Python does."""
    message = delivery.message
    attributes = {
        "SenderId": message.sender_id,
        "ApproximateFirstReceiveTimestamp": str(epoch_ms(message.deliveries[0].received_at)),
        "ApproximateReceiveCount": str(delivery.receive_count),
        "SentTimestamp": str(epoch_ms(message.sent_at)),
        "SequenceNumber": message.sequence_number,
        "MessageDeduplicationId": message.deduplication_id,
        "MessageGroupId": message.group,
    }
    return str(
        {
            "MessageId": message.message_id,
            "ReceiptHandle": delivery.receipt_handle,
            "MD5OfBody": message.md5,
            "Body": message.body,
            "Attributes": {name: value for name, value in attributes.items() if value is not None},
        }
    )
