"""The version, for what cannot import the package whose public names it makes."""

VERSION = "0.1.0"
