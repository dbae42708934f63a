-- Money that is to go back and is not back yet.
SELECT count(*), coalesce(min(created_at), 0) FROM refund WHERE state <> 'DONE'
