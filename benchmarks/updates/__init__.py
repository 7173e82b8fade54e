"""What a year of monthly updates costs against one fit."""
