"""How large a parameter of an experiment may be for the human to recover: thresholds over ensembles of replicas."""
