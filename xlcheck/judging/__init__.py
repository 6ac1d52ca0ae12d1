"""What a judge is given, how a model is asked, and what its answers come to."""
