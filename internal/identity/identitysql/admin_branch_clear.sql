DELETE FROM user_branch WHERE user_id = $1
