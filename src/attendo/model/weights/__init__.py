"""A Transformer's weights by name, in float32 and int8, and a Transformer built from them."""
