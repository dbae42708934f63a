-- A password that was replaced meanwhile has not failed.
UPDATE app_user SET failures = failures + 1 WHERE id = $1 AND password = $2
