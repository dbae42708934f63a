-- A PIN that was replaced meanwhile was not the one that was right.
UPDATE user_pin SET failures = 0 WHERE user_id = $1 AND hash = $2
