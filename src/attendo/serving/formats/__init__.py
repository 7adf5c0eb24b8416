"""Documents by their formats: what is to be translated of one, and the document again with translations in it."""
