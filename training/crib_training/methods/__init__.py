"""The methods of `crib train`: a file each, which reads from top to bottom."""
