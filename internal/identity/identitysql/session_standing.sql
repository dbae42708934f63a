SELECT s.user_id, u.role_id, r.name, s.created_at, s.expires_at, s.address,
       COALESCE((SELECT /*pg: string_agg(CAST(b.branch_id AS TEXT), ',' ORDER BY b.branch_id) */
                        /*sqlite: group_concat(b.branch_id) */
                 FROM user_branch b WHERE b.user_id = u.id), '')
FROM auth_session s
JOIN app_user u ON u.id = s.user_id
JOIN role r ON r.id = u.role_id
WHERE s.id = $1 AND s.ended_at IS NULL AND s.expires_at > $2 AND u.status = 'ACTIVE' AND s.created_at > u.valid_from
