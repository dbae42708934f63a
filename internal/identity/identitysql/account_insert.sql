INSERT INTO app_user (username, email, phone, device_id, password, role_id, status, address, gender, first_name, surname,
                      age, occupation, province, city, geolocation, profile, registered, created_at, updated_at,
                      created_by, updated_by)
VALUES ($1, $2, $3, $4, $5, (SELECT id FROM role WHERE name = $6), $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
        $19, $19, $20, $20)
RETURNING id, role_id
