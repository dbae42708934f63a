SELECT bytes FROM image WHERE hash = $1 AND width = $2
