"""Ask Java once for each of its names.

PySpark looks up every function and class again on each use, a call to Java each time, and a name that is only part of a
package makes Java search all of Spark's jars for a class of that name. A correlation asks some 20,000 times.
"""

from collections.abc import Callable
from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JavaPackage, JVMView

_LASTING = (JavaPackage, JavaClass, JavaMember)


def remember_java_names() -> None:
    """Let what stands for Java's packages, classes and functions keep the names it has found."""
    for owner in (JVMView, JavaPackage, JavaClass):
        if not hasattr(owner.__getattr__, "asks"):
            owner.__getattr__ = _remembering(owner.__getattr__)


def _remembering(ask: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    def found(self: Any, name: str) -> Any:
        answer = ask(self, name)
        if isinstance(answer, _LASTING):
            self.__dict__[name] = answer
        return answer

    found.asks = ask  # type: ignore[attr-defined]
    return found
