-- Nobody has an empty name: what was not said is NULL.
SELECT u.id, COALESCE(u.username, ''), COALESCE(u.email, ''), COALESCE(u.phone, ''), COALESCE(u.device_id, ''),
       COALESCE(u.google_id, ''), COALESCE(u.password, ''), u.role_id, r.name, u.status, COALESCE(u.address, ''),
       COALESCE(u.gender, ''), COALESCE(u.first_name, ''), COALESCE(u.surname, ''), u.age, COALESCE(u.occupation, ''),
       COALESCE(u.province, ''), COALESCE(u.city, ''), COALESCE(u.geolocation, ''), u.trust_score, u.profile,
       u.registered, u.valid_from, u.failures, u.created_at, u.updated_at, u.created_by, u.updated_by, u.version,
       COALESCE((SELECT /*pg: string_agg(CAST(b.branch_id AS TEXT), ',' ORDER BY b.branch_id) */
                        /*sqlite: group_concat(b.branch_id) */
                 FROM user_branch b WHERE b.user_id = u.id), '')
FROM app_user u
JOIN role r ON r.id = u.role_id
WHERE u.email = $1 OR u.username = $2
