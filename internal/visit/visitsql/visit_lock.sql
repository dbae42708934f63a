SELECT id FROM visit WHERE id = $1 /*pg: FOR NO KEY UPDATE */
