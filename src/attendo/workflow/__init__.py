"""A recipe or a model in, a result out: the work behind each command."""
