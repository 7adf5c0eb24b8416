"""Units of localisation files translated: placeholders, codes, plural forms, ICU messages and accelerators kept."""
