-- fragment: branch_ids
-- The branch ids of a staff account, separated by commas.
COALESCE((SELECT /*pg: string_agg(CAST(b.branch_id AS TEXT), ',' ORDER BY b.branch_id) */
       /*sqlite: group_concat(b.branch_id) */
FROM user_branch b WHERE b.user_id = u.id), '')

-- fragment: account_columns
u.id, COALESCE(u.username, ''), COALESCE(u.email, ''), COALESCE(u.phone, ''), COALESCE(u.device_id, ''),
COALESCE(u.google_id, ''), COALESCE(u.password, ''), u.role_id, r.name, u.status, COALESCE(u.address, ''),
COALESCE(u.gender, ''), COALESCE(u.first_name, ''), COALESCE(u.surname, ''), u.age, COALESCE(u.occupation, ''),
COALESCE(u.province, ''), COALESCE(u.city, ''), COALESCE(u.geolocation, ''), u.trust_score, COALESCE(u.fraud_flags, ''), u.profile,
u.registered, u.valid_from, u.failures, u.created_at, u.updated_at, u.created_by, u.updated_by, u.version,
u.last_login_at, @branch_ids

-- name: account_fail
-- Changes no row if the password was replaced since it was read: the failure was that of the old one.
UPDATE app_user SET failures = failures + 1 WHERE id = $1 AND password = $2

-- name: account_find
-- Accounts without a username or an address store NULL, so an empty argument matches none of them.
SELECT @account_columns
FROM app_user u
JOIN role r ON r.id = u.role_id
WHERE u.email = $1 OR u.username = $2

-- name: account_insert
INSERT INTO app_user (username, email, phone, device_id, password, role_id, status, address, gender, first_name, surname,
                      age, occupation, province, city, geolocation, profile, registered, created_at, updated_at,
                      created_by, updated_by, trust_score)
VALUES ($1, $2, $3, $4, $5, (SELECT id FROM role WHERE name = $6), $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
        $19, $19, $20, $20, $21)
RETURNING id, role_id

-- name: account_lock
SELECT @account_columns
FROM app_user u
JOIN role r ON r.id = u.role_id
WHERE u.id = $1 /*pg: FOR NO KEY UPDATE OF u */

-- name: account_login
-- Leaves the version: a login must not make an administrator's edit of the profile fail.
UPDATE app_user SET failures = 0, password = $2 WHERE id = $1

-- name: account_last_login
-- Leaves the version, like account_login. Never moves back: clocks of several processes may differ.
UPDATE app_user SET last_login_at = $2 WHERE id = $1 AND (last_login_at IS NULL OR last_login_at < $2)

-- name: device_clear
UPDATE app_user SET device_id = NULL, updated_at = $3, version = version + 1 WHERE device_id = $1 AND id <> $2 RETURNING id

-- name: device_set
-- Does not change the version, like account_last_login.
UPDATE app_user SET device_id = $2 WHERE id = $1

-- name: account_password
UPDATE app_user SET password = $3, failures = 0, updated_at = $4, version = version + 1 WHERE id = $1 AND password = $2

-- name: account_verify
UPDATE app_user SET status = 'ACTIVE', registered = 1, updated_at = $2, version = version + 1
WHERE id = $1 AND status = 'PENDING'

-- name: account_email
-- The code was sent to the new address, so the change verifies it, as a reset does.
UPDATE app_user SET email = $2, registered = 1, updated_at = $3, version = version + 1 WHERE id = $1 AND status = 'ACTIVE'

-- name: account_reset
-- The code was sent to the e-mail address, so a reset verifies the address as well. A person with the old password may have
-- connected Google.
UPDATE app_user
SET password = $2, google_id = NULL, failures = 0, registered = 1, status = 'ACTIVE', valid_from = $3, updated_at = $3,
    version = version + 1
WHERE id = $1 AND status <> 'DISABLED'

-- name: account_select
SELECT @account_columns
FROM app_user u
JOIN role r ON r.id = u.role_id
WHERE u.id = $1

-- name: account_taken
-- Finds the account that has one of these values, after a unique index refused them.
SELECT COALESCE(email, ''), COALESCE(username, ''), COALESCE(phone, ''), COALESCE(device_id, '')
FROM app_user
WHERE id <> $1 AND (email = $2 OR username = $3 OR phone = $4 OR device_id = $5)
ORDER BY id LIMIT 1

-- name: account_update
UPDATE app_user
SET username = $2, phone = $3, device_id = $4, address = $5, gender = $6, first_name = $7, surname = $8, age = $9,
    occupation = $10, province = $11, city = $12, geolocation = $13, profile = $14, updated_at = $15, updated_by = $16,
    version = version + 1
WHERE id = $1

-- name: choice_select
SELECT locale, order_received, order_ready, news FROM account_mail WHERE user_id = $1

-- name: choice_put
INSERT INTO account_mail (user_id, locale, order_received, order_ready, news, updated_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (user_id) DO UPDATE
SET locale = excluded.locale, order_received = excluded.order_received, order_ready = excluded.order_ready,
    news = excluded.news, updated_at = excluded.updated_at

-- name: choice_locale
-- A language that was chosen stays. A registration with the consent to news has a row without a language.
INSERT INTO account_mail (user_id, locale, updated_at) VALUES ($1, $2, $3)
ON CONFLICT (user_id) DO UPDATE SET locale = excluded.locale WHERE account_mail.locale = ''

-- name: consent_insert
INSERT INTO account_consent (user_id, given, source, locale, at) VALUES ($1, $2, $3, $4, $5)
