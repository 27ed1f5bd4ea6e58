"""The explorer: a page in the browser, served on this machine only, to move losses and costs and see what follows.

``uneven explore`` starts it. ``answers``, ``data_fits`` and ``saved_fits`` compute what the page shows, ``service``
answers requests within limits, and ``static`` is the page itself.
"""
