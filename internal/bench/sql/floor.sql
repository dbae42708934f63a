-- name: floor_counter_add
-- Only the row lock and the CHECK keep a counter below its cap: an order that exceeds it fails the whole statement.
-- Without WHERE true, SQLite would parse ON CONFLICT as a join condition.
INSERT INTO floor_counter (item_id, used, cap)
SELECT r.item, r.qty, CAST($2 AS BIGINT)
FROM @rows($1: item int, qty int) AS r
WHERE true
ON CONFLICT (item_id) DO UPDATE SET used = floor_counter.used + excluded.used

-- name: floor_counter_create
CREATE TABLE floor_counter (
    item_id BIGINT NOT NULL PRIMARY KEY,
    used    BIGINT NOT NULL,
    cap     BIGINT NOT NULL,
    CHECK (used <= cap)
) /*pg: WITH (fillfactor = 50) *//*sqlite: WITHOUT ROWID */

-- name: floor_counter_drop
DROP TABLE IF EXISTS floor_counter

-- name: floor_event_create
CREATE TABLE floor_event (
    id         TEXT /*pg: COLLATE "C" */ NOT NULL PRIMARY KEY,
    order_id   TEXT /*pg: COLLATE "C" */ NOT NULL,
    payload    TEXT NOT NULL,
    created_at BIGINT NOT NULL
) /*sqlite: WITHOUT ROWID */

-- name: floor_event_drop
DROP TABLE IF EXISTS floor_event

-- name: floor_event_insert
INSERT INTO floor_event (id, order_id, payload, created_at)
SELECT r.id, r.id, r.payload, CAST($2 AS BIGINT)
FROM @rows($1: id text, payload text) AS r

-- name: floor_line_create
CREATE TABLE floor_line (
    order_id TEXT /*pg: COLLATE "C" */ NOT NULL,
    line     INTEGER NOT NULL,
    item_id  BIGINT NOT NULL,
    qty      BIGINT NOT NULL,
    price    BIGINT NOT NULL,
    PRIMARY KEY (order_id, line)
) /*sqlite: WITHOUT ROWID */

-- name: floor_line_drop
DROP TABLE IF EXISTS floor_line

-- name: floor_line_insert
INSERT INTO floor_line (order_id, line, item_id, qty, price)
SELECT r.order_id, r.line, r.item, r.qty, CAST($2 AS BIGINT)
FROM @rows($1: order_id text, line int, item int, qty int) AS r

-- name: floor_order_create
CREATE TABLE floor_order (
    id             TEXT /*pg: COLLATE "C" */ NOT NULL PRIMARY KEY,
    client_txn_id  TEXT NOT NULL,
    payment_method TEXT NOT NULL,
    total_amount   BIGINT NOT NULL,
    created_at     BIGINT NOT NULL
) /*sqlite: WITHOUT ROWID */

-- name: floor_order_drop
DROP TABLE IF EXISTS floor_order

-- name: floor_order_insert
INSERT INTO floor_order (id, client_txn_id, payment_method, total_amount, created_at)
SELECT r.id, r.key, r.method, r.total, CAST($2 AS BIGINT)
FROM @rows($1: id text, key text, method text, total int) AS r
