"""The optional login: who may come in, and the way there and back."""
