-- Who has one of these values; asked after a unique index has refused them.
SELECT COALESCE(email, ''), COALESCE(username, ''), COALESCE(phone, ''), COALESCE(device_id, '')
FROM app_user
WHERE id <> $1 AND (email = $2 OR username = $3 OR phone = $4 OR device_id = $5)
ORDER BY id LIMIT 1
