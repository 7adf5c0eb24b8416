"""Speed on this machine beside the installed peers, as ratios in one run."""
