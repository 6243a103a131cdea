"""What objectives need of each row of a trial, compiled."""
