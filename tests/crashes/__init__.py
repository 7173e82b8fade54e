"""Crashes. These tests are of Linux: forks, signals, limits and permissions are as they are there."""
