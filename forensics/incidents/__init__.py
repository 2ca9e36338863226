"""Incidents: messages of one queue that may have been processed twice, close in time; what is said and drawn of each.

Every function is about one queue or one incident, so an item id names a message. Times are int microseconds since the epoch,
UTC; the order in which values come never matters.
"""
