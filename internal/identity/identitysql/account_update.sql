UPDATE app_user
SET username = $2, phone = $3, device_id = $4, address = $5, gender = $6, first_name = $7, surname = $8, age = $9,
    occupation = $10, province = $11, city = $12, geolocation = $13, profile = $14, updated_at = $15, updated_by = $16,
    version = version + 1
WHERE id = $1
