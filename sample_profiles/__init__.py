"""Small profiles that ship with the tool, as a generator and the answers worked by hand (ANSWERS.md)."""
