"""Conversion of robots' files to models: locked and welded joints, repairs, and contact points."""
