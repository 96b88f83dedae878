"""The first process inside a kernel in virtual time: hands over to the agent of the engine's
module, whose path is its argument.

It is run by itself, without the package and its dependencies, because each import costs time.
"""

import importlib.util
import sys

if __name__ == "__main__":
    found = importlib.util.spec_from_file_location("_internal", sys.argv[1])
    assert found is not None
    assert found.loader is not None
    engine = importlib.util.module_from_spec(found)
    found.loader.exec_module(engine)
    engine.kernel_agent()
