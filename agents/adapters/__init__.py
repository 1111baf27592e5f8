"""Ways to have a model answer. Nothing here knows of issues, databases or settings: values in, values out."""
