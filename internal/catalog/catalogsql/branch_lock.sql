SELECT id FROM branch WHERE id = $1
/*pg: FOR NO KEY UPDATE */
