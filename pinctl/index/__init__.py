"""The wheel index: records of published files, the static pages made of them, and what is wrong with pages of others.

Nothing here does any IO: pages and texts go in, and come out.
"""
