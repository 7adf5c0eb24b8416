"""The paper's tables and figures, made again: what it claims beside what comes out here."""
