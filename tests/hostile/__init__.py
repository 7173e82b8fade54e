"""Hostile files. These tests are of Linux: limits of memory and time, pipes and devices are as they are there."""
