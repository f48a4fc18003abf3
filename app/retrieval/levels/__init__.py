"""The five levels, one file each. A level never decides whether it is the right one; `route` does."""
