"""How well a number is predicted: R2 over epsilon of the private forest's regressor and of peers."""
