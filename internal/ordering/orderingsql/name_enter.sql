INSERT INTO order_word (branch_id, word, biz_date, order_id)
SELECT r.branch_id, r.word, r.biz_date, r.order_id FROM @rows($1: branch_id int, word text, biz_date text, order_id text) AS r
WHERE 1 = 1
ON CONFLICT DO NOTHING
