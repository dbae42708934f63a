-- An order writes fewer rows: the lines of a hold are one column of it, and the order has the digest of its request.

-- +goose Up
-- item:quantity of each line, separated by spaces, with an s before stock items.
ALTER TABLE hold ADD COLUMN lines TEXT NOT NULL DEFAULT '';
UPDATE hold SET lines = l.lines
FROM (
    SELECT hold_id, string_agg(CASE WHEN stock = 1 THEN 's' ELSE '' END || item_id || ':' || qty, ' ' ORDER BY stock, item_id) AS lines
    FROM hold_line
    GROUP BY hold_id
) AS l
WHERE hold.id = l.hold_id;
DROP TABLE hold_line;
-- The order's own unique keys recognize a repeated request. A member's is unique in all branches.
ALTER TABLE order_info ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE order_info SET digest = i.digest FROM idempotency i WHERE i.ref = order_info.id;
DROP TABLE idempotency;
CREATE UNIQUE INDEX order_info_member_txn ON order_info (client_txn_id) WHERE user_id IS NOT NULL;
INSERT INTO schema_floor (version, oldest) VALUES (34, 34);

-- +goose Down
-- The first attempt of every order gets a row again.
INSERT INTO payment_attempt (id, order_id, method, amount, currency, state, created_at)
SELECT coalesce(o.payment_ref, o.id), o.id, o.payment_method, o.total_amount, o.currency, 'CREATED', o.created_at
FROM order_info o
WHERE NOT EXISTS (SELECT 1 FROM payment_attempt a WHERE a.order_id = o.id);
DROP INDEX order_info_member_txn;
CREATE TABLE idempotency (
    scope      @key NOT NULL,
    key        @key NOT NULL,
    digest     TEXT NOT NULL,
    status     INTEGER NOT NULL,
    ref        TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (scope, key)
);
INSERT INTO idempotency (scope, key, digest, status, ref, created_at)
SELECT CASE WHEN user_id IS NULL THEN 'order:' || branch_id ELSE 'member:' || user_id END, client_txn_id, digest, 201, id, created_at
FROM order_info;
ALTER TABLE order_info DROP COLUMN digest;
CREATE TABLE hold_line (
    hold_id @key NOT NULL,
    stock   INTEGER NOT NULL DEFAULT 0,
    item_id BIGINT NOT NULL,
    qty     BIGINT NOT NULL CHECK (qty > 0),
    PRIMARY KEY (hold_id, stock, item_id)
);
/*pg: INSERT INTO hold_line (hold_id, stock, item_id, qty)
SELECT h.id, CASE WHEN l.line LIKE 's%' THEN 1 ELSE 0 END, CAST(ltrim(split_part(l.line, ':', 1), 's') AS BIGINT),
       CAST(split_part(l.line, ':', 2) AS BIGINT)
FROM hold h
CROSS JOIN LATERAL regexp_split_to_table(h.lines, ' ') AS l (line)
WHERE h.lines <> '';*/
/*sqlite: INSERT INTO hold_line (hold_id, stock, item_id, qty)
SELECT h.id, l.value LIKE 's%', CAST(ltrim(substr(l.value, 1, instr(l.value, ':') - 1), 's') AS INTEGER),
       CAST(substr(l.value, instr(l.value, ':') + 1) AS INTEGER)
FROM hold h
JOIN json_each('["' || replace(h.lines, ' ', '","') || '"]') AS l
WHERE h.lines <> '';*/
ALTER TABLE hold DROP COLUMN lines;
DELETE FROM schema_floor WHERE version = 34;
