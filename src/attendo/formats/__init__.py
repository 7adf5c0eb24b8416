"""Files that people translate: read into units with byte spans, and written by replacing those spans alone.

`table.read_file` reads a file of any format; a module per format knows its syntax. `file` has the types they share.
"""
