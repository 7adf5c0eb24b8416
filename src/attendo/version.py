"""The version, for modules that cannot import the package."""

VERSION = "0.1.0"
