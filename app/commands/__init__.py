"""The commands of `mindcone`, by what they are for. Doors: they parse arguments, call one flow and print."""
