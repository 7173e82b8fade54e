"""Ways to carry the messages of a secure sum; none of them is trusted with anything but delivery."""
