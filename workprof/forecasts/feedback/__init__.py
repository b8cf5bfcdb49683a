"""What finished jobs say of the forecasts: drift, better estimates, advice, and a refit."""
