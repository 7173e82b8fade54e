"""What trusts nobody, side by side: the methods of disturbed answers at local epsilons, with the label disturbed."""
