"""Documents translated in the background, read and written by processes of their own."""
