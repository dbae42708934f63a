INSERT INTO user_branch (user_id, branch_id) SELECT $1, b.id FROM @rows($2: id int) AS b
