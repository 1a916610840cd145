"""What stands between the engine and the network."""
