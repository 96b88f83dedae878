# The engine in a browser. Takes no time of `make setup`: only who builds the site builds it.

.PHONY: playground

playground: $(TOOLS)  ## Build the playground into site/playground, where there is a compiler for wasm32
	$(BIN)/python -m tools.playground.build
