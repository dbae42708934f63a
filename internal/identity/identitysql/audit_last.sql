SELECT seq, hash FROM audit_head WHERE id = 1
