DELETE FROM auth_revocation WHERE id IN (SELECT v.id FROM auth_revocation v WHERE v.created_at < $1 LIMIT $2)
