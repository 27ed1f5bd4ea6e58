"""Objectives whose rows nobody holds at once: questions to parts of the rows, and answers that can be added."""
