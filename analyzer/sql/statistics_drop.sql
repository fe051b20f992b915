-- Removes what statistics.sql made.

DROP VIEW _single_kernels;
DROP VIEW _repeated_kernels;
DROP VIEW _placed_kernels;
DROP TABLE _singles;
DROP TABLE _statistics;
