SELECT branch_id FROM dining_table WHERE id = $1 /*pg: FOR NO KEY UPDATE */
