INSERT INTO app_user (id, username, email, phone, device_id, google_id, password, role_id, status, province, city, registered,
                      created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, 'a secret', $7, 'ACTIVE', $8, $9, $10, $11, $11)
ON CONFLICT (id) DO UPDATE SET username = excluded.username, email = excluded.email, phone = excluded.phone,
    device_id = excluded.device_id, google_id = excluded.google_id, role_id = excluded.role_id,
    province = excluded.province, city = excluded.city, registered = excluded.registered,
    updated_at = excluded.updated_at, version = app_user.version + 1
