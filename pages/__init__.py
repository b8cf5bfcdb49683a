"""The dashboard's pages: a question, widgets, one or two workbench calls, charts. app.py lists them."""
