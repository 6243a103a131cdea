"""Export of runs to other formats: EUROBENCH, OpenSim, C3D, BIDS, MATLAB, CSV."""
