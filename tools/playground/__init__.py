"""The playground: the engine in a browser, and its page."""
