"""Device and operator work to time floors and labels: pure functions, no database."""
