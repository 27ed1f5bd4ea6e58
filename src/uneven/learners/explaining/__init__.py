"""Why a row was decided as it was: columns, money, and what would have changed the decision."""
