"""The case of one incident, and the files one can attach. A module that draws is loaded by whoever draws."""
