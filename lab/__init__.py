"""The lab: an embedded AWS and the incidents it plays. It is the customer's world, so it writes to AWS; the product never does."""
