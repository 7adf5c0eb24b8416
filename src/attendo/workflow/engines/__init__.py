"""A model that is ready to translate, to parse and to score: how it is loaded, called and watched."""
