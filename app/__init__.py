"""MindCone: a knowledge backend. `app/README.md` shows the floors."""
