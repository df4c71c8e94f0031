"""Numbers read off a model's operations, every one of them an expression that knows its formula."""
