-- A row that is there already gets what is imported and the next version. One that was deleted goes on behind its tombstone.
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
