SELECT id, kind, subject, created_at FROM auth_revocation WHERE created_at >= $1
