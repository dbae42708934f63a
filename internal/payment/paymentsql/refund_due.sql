SELECT count(*), coalesce(min(created_at), 0) FROM refund WHERE state = 'DUE'
