"""What other libraries compute, one file per library.

A file has ``LOSSES``: for names of the zoo, a function ``(t, label, **parameters)`` from an array of logits and a label
0 or 1 to the library's own losses. ``SLOPES`` has the library's own gradients. ``TOLERANCE`` is larger than rounding in
doubles where the library computes in single precision; ``PARAMETERS`` has further parameters to try.
"""
