-- fragment: user_matches
FROM app_user u
WHERE (CAST($1 AS TEXT) IS NULL OR lower(u.province /*pg: COLLATE "C"*/) = $1)
  AND (CAST($2 AS TEXT) IS NULL OR lower(u.city /*pg: COLLATE "C"*/) = $2)
  AND (CAST($3 AS BIGINT) IS NULL OR u.registered = $3)

-- name: user_by_device
SELECT CAST(t.device_id AS TEXT), CAST(t.id AS TEXT) FROM app_user t JOIN @rows($1: value text) AS w ON t.device_id = w.value

-- name: user_by_email
SELECT CAST(t.email AS TEXT), CAST(t.id AS TEXT) FROM app_user t JOIN @rows($1: value text) AS w ON t.email = w.value

-- name: user_by_google
SELECT CAST(t.google_id AS TEXT), CAST(t.id AS TEXT) FROM app_user t JOIN @rows($1: value text) AS w ON t.google_id = w.value

-- name: user_by_phone
SELECT CAST(t.phone AS TEXT), CAST(t.id AS TEXT) FROM app_user t JOIN @rows($1: value text) AS w ON t.phone = w.value

-- name: user_by_username
SELECT CAST(t.username AS TEXT), CAST(t.id AS TEXT) FROM app_user t JOIN @rows($1: value text) AS w ON t.username = w.value

-- name: user_find
SELECT u.id
@user_matches
ORDER BY u.id
LIMIT $4 OFFSET $5

-- name: user_find_count
SELECT COUNT(*)
@user_matches

-- name: user_ids
SELECT id FROM app_user WHERE id > $1 ORDER BY id LIMIT $2 OFFSET $3

-- name: user_import
-- An existing row takes the imported values and a higher version. A deleted row continues after its tombstone's version.
INSERT INTO app_user (id, username, email, phone, device_id, google_id, role_id, status, address, gender, first_name, surname,
    age, occupation, province, city, geolocation, trust_score, profile, registered, created_at, updated_at,
    created_by, updated_by, version)
SELECT r.id, r.username, r.email, r.phone, r.device_id, r.google_id, r.role_id, r.account_status, r.address,
       r.gender, r.first_name, r.surname, r.age, r.occupation, r.province, r.city, r.geolocation,
       r.trust_score, r.profile, r.registered, r.created_at, r.updated_at, r.created_by, r.updated_by,
       CASE WHEN r.version > r.deleted THEN r.version ELSE r.deleted + 1 END
FROM @rows($1: id int, username text, email text, phone text, device_id text, google_id text, role_id int, account_status text, address text, gender text, first_name text, surname text, age int, occupation text, province text, city text, geolocation text, trust_score int, profile text, registered int, created_at int, updated_at int, created_by text, updated_by text, version int, deleted int) AS r
WHERE 1 = 1
ON CONFLICT (id) DO UPDATE SET
    username = excluded.username,
    email = excluded.email,
    phone = excluded.phone,
    device_id = excluded.device_id,
    google_id = excluded.google_id,
    role_id = excluded.role_id,
    status = excluded.status,
    address = excluded.address,
    gender = excluded.gender,
    first_name = excluded.first_name,
    surname = excluded.surname,
    age = excluded.age,
    occupation = excluded.occupation,
    province = excluded.province,
    city = excluded.city,
    geolocation = excluded.geolocation,
    trust_score = excluded.trust_score,
    profile = excluded.profile,
    registered = excluded.registered,
    updated_at = excluded.updated_at,
    created_by = excluded.created_by,
    updated_by = excluded.updated_by,
    version = CASE WHEN excluded.version > app_user.version THEN excluded.version ELSE app_user.version + 1 END

-- name: user_select
-- With an array instead of a join, PostgreSQL uses the index regardless of its estimate of the table's size.
SELECT u.id, u.username, u.email, u.phone, u.device_id, u.google_id, u.role_id, u.status, u.address, u.gender, u.first_name,
       u.surname, u.age, u.occupation, u.province, u.city, u.geolocation, u.trust_score, u.fraud_flags, u.profile,
       u.registered, u.last_login_at, u.created_at, u.updated_at, u.created_by, u.updated_by, u.version
FROM app_user u
WHERE u.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */

-- name: user_sizes_city
SELECT lower(city /*pg: COLLATE "C"*/), COUNT(*)
FROM app_user
WHERE city IS NOT NULL AND lower(city /*pg: COLLATE "C"*/) > $1
GROUP BY 1 ORDER BY 1 LIMIT $2

-- name: user_sizes_province
SELECT lower(province /*pg: COLLATE "C"*/), COUNT(*)
FROM app_user
WHERE province IS NOT NULL AND lower(province /*pg: COLLATE "C"*/) > $1
GROUP BY 1 ORDER BY 1 LIMIT $2

-- name: user_sizes_registered
SELECT 'no', COUNT(*) FROM app_user WHERE registered = 0 AND CAST($1 AS TEXT) < 'no' GROUP BY registered LIMIT $2

-- name: user_total
SELECT COUNT(*) FROM app_user
