"""The forward pass, the loss and their gradients, over padded or packed rows."""
