SELECT s.id, s.user_id, s.token_hash, COALESCE(s.previous_hash, ''), COALESCE(s.next_token, ''), s.rotated_at, s.device,
       s.address, s.created_at, s.last_seen_at, s.idle_until, s.expires_at, s.ended_at
FROM auth_session s
WHERE s.id = $1 /*pg: FOR UPDATE */
