"""A recipe or a model in, a result out: what each command runs."""
