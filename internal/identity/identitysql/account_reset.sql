-- The code came to the address, so the address is proved as well.
UPDATE app_user
SET password = $2, failures = 0, registered = 1, status = 'ACTIVE', valid_from = $3, updated_at = $3, version = version + 1
WHERE id = $1 AND status <> 'DISABLED'
