"""The evaluation bed: a frozen set of small scenarios, answered by a model and judged by the rows that result.

`manage.py eval` runs it. No model judges another one here: each rule looks at what stands in the database.
"""
