"""Speed on this machine compared with the installed peers, as ratios measured in one run."""
