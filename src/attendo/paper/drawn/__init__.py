"""What Figures 1 and 2 share: the model that is drawn, the comparison with the paper, and their pages."""
