"""How fitted learners become nodes of an ONNX graph: one file per kind of learner, found automatically.

A file has a list ``CONVERTERS`` of :class:`~uneven.adapters.onnx_graph.Converter`. For a learner whose decision is its
score, it says how the score of the positive class is computed; labels, their order and probabilities follow from that.
"""
