"""The engine: the memory, the streets and the models. It has never heard of Qt.

Importing this package loads neither torch nor Qt; the modules below it load what they need.
"""
