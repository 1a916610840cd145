"""The command `report`: one report, or those of several sites with an index."""
