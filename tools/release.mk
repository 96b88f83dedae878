# A release, which is made on one machine and tried on it.

.PHONY: release test-release

release: setup  ## Make what is published of this version in dist/release; resumable
	$(BIN)/python -m tools.release

test-release: setup  ## Install the release in an empty environment of each Python; build its sources
	$(BIN)/pytest -m wheel tests/released.py
