"""Ground floor: the database as a machine. Sessions, SQL files, locks, the embedded server."""
