-- Keeps others from sitting down at the table, and from changing it.
SELECT branch_id, label, seats, active FROM dining_table WHERE id = $1 /*pg: FOR NO KEY UPDATE */
