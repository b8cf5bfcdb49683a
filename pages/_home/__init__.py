"""The Home page: steps done and open, recent runs, and Home for what machines measured."""
