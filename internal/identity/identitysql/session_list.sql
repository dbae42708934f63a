SELECT s.id, s.user_id, s.token_hash, COALESCE(s.previous_hash, ''), COALESCE(s.next_token, ''), s.rotated_at, s.device,
       s.address, s.created_at, s.last_seen_at, s.idle_until, s.expires_at, s.ended_at
FROM auth_session s
WHERE s.user_id = $1 AND s.ended_at IS NULL AND s.expires_at > $2 AND s.idle_until > $2
ORDER BY s.created_at DESC, s.id DESC
