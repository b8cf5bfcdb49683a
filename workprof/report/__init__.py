"""The report: what every page shows of a dataset, in one offline file; the same questions, the same numbers.

It stands beside the pages: it asks the workbench and draws with the charts, and knows neither store nor methods.
"""
