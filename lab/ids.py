"""Ids of the forms AWS gives them, from a seeded source: the same play always names the same messages."""

import base64
import random
import string
import uuid


class Ids:
    """Makes ids; two sources with the same seed make the same ones."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._sequence = 18_849_496_460_467_696_128 + self._random.randrange(10**12)

    def message_id(self) -> str:
        """Return an SQS message id: a version 4 UUID."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def request_id(self) -> str:
        """Return a Lambda request id as runs from an event source mapping have it: version 5.

        >>> Ids("example").request_id()[14]
        '5'
        """
        return str(uuid.UUID(int=self._random.getrandbits(128), version=5))

    def receipt_handle(self) -> str:
        """Return a receipt handle: AQEB and 384 or 412 base64 characters."""
        size = self._random.choice((288, 309))
        return "AQEB" + base64.b64encode(self._random.randbytes(size)).decode()

    def sequence_number(self) -> str:
        """Return the next FIFO sequence number: 20 digits, rising, not dense."""
        self._sequence += self._random.randrange(256, 4096)
        return f"{self._sequence:020d}"

    def hex(self, digits: int) -> str:
        """Return lower-case hex, as in log stream names, task ids and trace ids."""
        return f"{self._random.getrandbits(digits * 4):0{digits}x}"

    def role_id(self) -> str:
        """Return the unique id of an IAM role, AROA and 17 capitals and digits."""
        return "AROA" + "".join(self._random.choices(string.ascii_uppercase + string.digits, k=17))

    def code(self, characters: int) -> str:
        """Return a short business id such as the part after pay-."""
        return "".join(self._random.choices(string.ascii_lowercase + string.digits, k=characters))
