-- The array, instead of a join, keeps PostgreSQL on the index, whatever it believes about the size of the table.
SELECT u.id, u.username, u.email, u.phone, u.device_id, u.google_id, u.role_id, u.status, u.address, u.gender, u.first_name,
       u.surname, u.age, u.occupation, u.province, u.city, u.geolocation, u.trust_score, u.profile, u.registered,
       u.created_at, u.updated_at, u.created_by, u.updated_by, u.version
FROM app_user u
WHERE u.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */
