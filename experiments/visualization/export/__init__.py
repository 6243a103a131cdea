"""Runs in the formats of others: EUROBENCH's files and performance indicators, OpenSim's storage files."""
