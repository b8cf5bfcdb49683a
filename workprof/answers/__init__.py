"""What is said of a record: its sentence, figures, tables and notes, worded once for all faces; nothing is drawn."""
