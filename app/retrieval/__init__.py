"""Faculties: find. A question in, `Evidence` out, at one of five levels."""
