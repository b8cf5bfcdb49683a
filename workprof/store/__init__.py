"""TraceStore over DuckDB: connection, schema, catalogue of datasets. All SQL of the product lives here."""
