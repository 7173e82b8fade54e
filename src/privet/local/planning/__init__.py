"""What answers would tell, before anybody is asked: their noise, the people they need, models of made-up people."""
