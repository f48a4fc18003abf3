"""What the assistant remembers: short texts that it keeps itself, that fade unless they are used."""
